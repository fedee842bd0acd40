"""Answers one case: ``{"id": any, "kind": …, …}`` to a result or an error."""

from collections.abc import Mapping
from typing import Any, Final

from fairlead.core.allocation import AllocationError
from fairlead_proof.conformance.fields import BadCaseError, CaseError
from fairlead_proof.conformance.kinds import KINDS

__all__ = ["BAD_CASE", "answer"]

BAD_CASE: Final = "bad_case"


def answer(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{"id", "result"}``, or ``{"id", "error": {"code", "message"}}``.

    With ``notes`` beside the result if a strategy has any. A case that cannot be read has the code
    ``bad_case``.
    """
    case_id = case.get("id")
    try:
        return {"id": case_id, **KINDS[_kind(case)](case)}
    except (AllocationError, CaseError) as error:
        return {"id": case_id, "error": {"code": error.code, "message": error.message}}
    except BadCaseError as error:
        return {"id": case_id, "error": {"code": BAD_CASE, "message": str(error)}}


def _kind(case: Mapping[str, Any]) -> str:
    kind = case.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadCaseError(f"kind: it must be one of {', '.join(KINDS)}")
    return kind
