"""Refusals of operators' requests as problems: which status, which field, and words of HTTP."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from fairlead.control.group_names import NoSuchGroupError
from fairlead.core.records import RuleSet
from fairlead.errors import ExitCode, FairleadError
from fairlead.http.problems import Problem
from fairlead.operating.rule_answers import RefusedByEngineError
from fairlead.operating.rule_changes import RuleRefusedError

__all__ = ["bad_field", "problem_of"]

_STATUS: Final = {
    ExitCode.USAGE: 422,
    ExitCode.REFUSED: 409,
    ExitCode.VERDICT_NEGATIVE: 409,
    ExitCode.ENVIRONMENT: 503,
}
_KINDS: Final = {422: "bad_field", 409: "refused", 503: "unavailable"}
_OF_RECORD: Final = ("by", "because")
"""What of a record stands beside its value."""


def bad_field(field: str, says: str, remedy: str) -> Problem:
    """Return the refusal of a field."""
    return Problem(422, "bad_field", f"{field}: {says}.", remedy, field)


def problem_of(
    error: FairleadError,
    wanted: Sequence[RuleSet] = (),
    may_see: Callable[[str], bool] = lambda _: True,
    *,
    listed: bool = True,
    outcomes: Sequence[Any] = (),
) -> Problem:
    """Return an error as a problem.

    Args:
        error: the error.
        wanted: the rules of the request, in their order.
        may_see: tells whether the caller may know a group.
        listed: the request has a list of rules; else it is about one, and has a verb of its own.
        outcomes: what was written, and what came of each.
    """
    status = _STATUS.get(error.exit_code, 500)
    field = error.field
    if isinstance(error, NoSuchGroupError):
        status, error = 404, error.among(may_see)
    elif isinstance(error, RuleRefusedError | RefusedByEngineError) and error.rule is not None:
        field = _field_of(error.rule, error.path, wanted, listed=listed)
    elif listed and field == "client_id":
        field = "rules"
    detail, remedy = error.over_http
    return Problem(
        status,
        error.kind or _KINDS.get(status, "failed"),
        detail,
        remedy,
        field or None,
        more={"outcomes": list(outcomes)} if outcomes else {},
    )


def _field_of(rule: RuleSet, path: str, wanted: Sequence[RuleSet], *, listed: bool) -> str:
    """Return the field of a request that a rule comes from."""
    if path in _OF_RECORD:
        return path
    if not listed:
        return "client_id" if rule.rule == "drain" else "rule"
    index = [(each.rule, each.subject) for each in wanted].index((rule.rule, rule.subject))
    return f"rules[{index}].value{'.' if path else ''}{path}"
