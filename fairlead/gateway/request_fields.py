"""The fields and the form that the bodies of requests and answers share."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from fairlead.gateway.outputs import Refusal
from fairlead.wire.texts import TextRule

__all__ = [
    "QUEUE_ID_MAX",
    "WORKS_MAX",
    "Body",
    "EpochField",
    "EpochPair",
    "Number",
    "QueueField",
    "QueueName",
    "bad_text",
    "described",
]

_INTEGER_MAX: Final = 2**63 - 1
QUEUE_ID_MAX: Final = 2**31 - 1
WORKS_MAX: Final = 10_000
"""The most works of one request."""

Number = Annotated[int, Field(strict=True, ge=0, le=_INTEGER_MAX)]
QueueName = tuple[
    Annotated[str, Field(min_length=1, max_length=249)],
    Annotated[str, Field(min_length=1, max_length=255)],
    Annotated[int, Field(strict=True, ge=0, le=QUEUE_ID_MAX)],
]
EpochPair = tuple[Number, Number]


def described(says: str, rule: TextRule) -> Any:
    """Return a field whose form the contract tells; the rule itself is checked elsewhere."""
    return Field(description=says, json_schema_extra={"pattern": f"^({rule.pattern})$"})


QueueField = Annotated[QueueName, Field(description="Topic, broker name, queue id.")]
EpochField = Annotated[
    EpochPair, Field(description="The epoch of the work: an answer's start has named it.")
]


class Body(BaseModel):
    """An object that has these fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def bad_text(field: str, text: str, words: str) -> Refusal:
    """Return the refusal of a text that breaks its rule."""
    return Refusal(422, "bad_field", f"{field}: {text[:80]!r} is not {words}.", "Change it.", field)
