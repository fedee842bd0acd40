"""What a client says that can stand by: with its join, and in answer to a freeze."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fairlead_client.model import Epoch, Queue
from fairlead_client.thin.thin_words import Frozen
from pydantic import AfterValidator, FailFast, Field

from fairlead.gateway.outputs import Refusal
from fairlead.gateway.request_fields import (
    WORKS_MAX,
    Body,
    EpochPair,
    Number,
    QueueField,
    bad_text,
    described,
)
from fairlead.wire.texts import CLIENT_ID, STRATEGY_NAME

__all__ = [
    "DataPlaneBody",
    "FrozenBody",
    "StandbyBody",
    "also",
    "checked_standby",
    "frozen_of",
    "no_plane",
    "no_standby",
]


class DataPlaneBody(Body):
    """Where a client reads its messages."""

    kind: Annotated[Literal["kafka", "rocketmq"], Field(description="What it is.")]
    member: Annotated[str, described("The id under which its cluster lists the client.", CLIENT_ID)]

    @property
    def named(self) -> tuple[str, str]:
        """Its kind, and the client's id there."""
        return self.kind, self.member


class StandbyBody(Body):
    """What a client can do without an engine."""

    follows: Annotated[
        str,
        described(
            "The strategy by which its data plane shares the queues out, as all of the group "
            "follow it: AVG, say.",
            STRATEGY_NAME,
        ),
    ]


class FrozenQueueBody(Body):
    """A queue that the client holds without a grant."""

    queue: QueueField
    position: Annotated[
        Number | None, Field(description="The next offset to read; null: not known.")
    ]


def _distinct(queues: tuple[FrozenQueueBody, ...]) -> tuple[FrozenQueueBody, ...]:
    """Refuse a queue that is named twice: the engine would refuse the whole answer, unheard."""
    if len({each.queue for each in queues}) != len(queues):
        message = "a queue is named twice"
        raise ValueError(message)
    return queues


class FrozenBody(Body):
    """The answer to a freeze."""

    epoch: Annotated[EpochPair, Field(description="The `freeze` of the newest answer.")]
    queues: Annotated[
        tuple[FrozenQueueBody, ...],
        FailFast(),
        Field(max_length=WORKS_MAX, description="All that it holds; it takes nothing more."),
        AfterValidator(_distinct),
    ]


def no_plane(value: object) -> object:
    """Return a data plane; the word of former clients says nothing."""
    return None if value == "kafka" else value


def no_standby(value: object) -> object:
    """Return what one can follow; the word of former clients says that it cannot."""
    return None if value is False else value


def also(word: object) -> Callable[[dict[str, Any]], None]:
    """Return what the contract of a field adds: this word, which means as much as null."""

    def add(schema: dict[str, Any]) -> None:
        schema["anyOf"] = [*schema["anyOf"], {"const": word}]

    return add


def checked_standby(plane: DataPlaneBody | None, standby: StandbyBody | None) -> Refusal | None:
    """Return why a join is refused that says where it reads; None: it is right."""
    if plane is not None and not CLIENT_ID.allows(plane.member):
        return bad_text("data_plane.member", plane.member, CLIENT_ID.words)
    if standby is None:
        return None
    if not STRATEGY_NAME.allows(standby.follows):
        return bad_text("standby.follows", standby.follows, STRATEGY_NAME.words)
    if plane is None or plane.kind != "rocketmq":
        detail = "standby: no cluster says who else is in the group."
        remedy = 'Send data_plane too, of the kind "rocketmq", or join without standby.'
        return Refusal(422, "bad_field", detail, remedy, "standby")
    return None


def frozen_of(body: FrozenBody) -> Frozen:
    """Return the answer to a freeze."""
    held = ((Queue(*each.queue), each.position) for each in body.queues)
    return Frozen(Epoch(*body.epoch), tuple(held))
