"""The bodies of the gateway's requests and answers: one model each, checked before anything else.

Unknown fields are refused with the nearest known one. The models are the source of openapi.json.
"""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_words import Stopped, Work
from pydantic import BaseModel, BeforeValidator, FailFast, Field, ValidationError

from fairlead.gateway.outputs import Refusal
from fairlead.gateway.poll_words import Poll
from fairlead.gateway.request_fields import (
    QUEUE_ID_MAX,
    WORKS_MAX,
    Body,
    EpochField,
    EpochPair,
    Number,
    QueueField,
    QueueName,
    bad_text,
    described,
)
from fairlead.gateway.standby_requests import (
    DataPlaneBody,
    FrozenBody,
    StandbyBody,
    also,
    checked_standby,
    frozen_of,
    no_plane,
    no_standby,
)
from fairlead.wire.texts import (
    CLIENT_ID,
    LABEL,
    TAG,
    TOPIC,
    UUID,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = [
    "Body",
    "EpochField",
    "EpochPair",
    "JoinBody",
    "LeaveBody",
    "Number",
    "PollBody",
    "QueueField",
    "QueueName",
    "body_of",
    "checked_join",
    "checked_topics",
    "described",
    "stopped_of",
    "subscriptions_of",
]

_SEQUENCE_MAX: Final = 2**60
_TOPICS_MAX: Final = 1_000
_SHOWN_MAX: Final = 80
_WORD: Final = re.compile("'([^']+)'")

_Any = TypeVar("_Any", bound=BaseModel)


class TopicBody(Body):
    """A topic that the client reads."""

    topic: Annotated[str, described("The topic's name.", TOPIC)]
    tags: Annotated[
        tuple[str, ...],
        FailFast(),
        Field(max_length=100, description='The tags that the client wants; ["*"]: all messages.'),
    ] = ("*",)


class WorkBody(Body):
    """A queue on which the client works, or has worked."""

    queue: QueueField
    epoch: EpochField
    position: Annotated[Number, Field(description="The next offset to read.")]
    end: Annotated[
        Number | None, Field(description="The offset of the next message to be written, if known.")
    ] = None


class ProcessBody(Body):
    """The operating system process of a client, and how often it has joined."""

    start_ms: Annotated[Number, Field(description="When it began, in ms since 1970.")]
    uuid: Annotated[str, described("Drawn at its start; a lower-case UUID.", UUID)]
    joins: Annotated[
        int,
        Field(strict=True, ge=1, le=QUEUE_ID_MAX, description="1 with its first join, then 2."),
    ] = 1


class JoinBody(Body):
    """A client joins a group."""

    client_id: Annotated[str, described("The client id; no other client has it.", CLIENT_ID)]
    topics: Annotated[
        tuple[TopicBody, ...],
        FailFast(),
        Field(min_length=1, max_length=_TOPICS_MAX, description="What it reads; each topic once."),
    ]
    consume_from: Annotated[
        Literal["last_offset", "first_offset", "timestamp"],
        Field(description="Where a queue begins that nobody of the group has read."),
    ] = "last_offset"
    consume_timestamp_ms: Annotated[
        Number | None,
        Field(description='With consume_from "timestamp": that time, in ms since 1970.'),
    ] = None
    capacity: Annotated[
        int, Field(strict=True, ge=1, le=1_000, description="How much it can do, beside others.")
    ] = 1
    zone: Annotated[str | None, described("Where it runs.", LABEL)] = None
    process: Annotated[
        ProcessBody | None,
        Field(
            description="Of two clients with one client id the later process goes on, of two joins "
            "of one process the later join. Without it, each join is a process that began when "
            "the gateway received it, so that a join which arrives late ends a newer one."
        ),
    ] = None
    ordered: Annotated[
        bool, Field(strict=True, description="Whether it wants its messages in order.")
    ] = False
    data_plane: Annotated[
        DataPlaneBody | None,
        BeforeValidator(no_plane),
        Field(
            description='Where it reads its messages, for one that says so; "kafka" says nothing.',
            json_schema_extra=also("kafka"),
        ),
    ] = None
    standby: Annotated[
        StandbyBody | None,
        BeforeValidator(no_standby),
        Field(
            description="One that has it can stand by until the engine takes the group over.",
            json_schema_extra=also(False),  # noqa: FBT003 - a word of the contract
        ),
    ] = None
    consume_type: Annotated[
        Literal["push", "pull"],
        Field(description="Whether its messages come to it, or it asks for them; for people."),
    ] = "push"
    language: Annotated[str, described("What it is written in.", LABEL)] = "other"
    version: Annotated[str, described("Its version.", LABEL)] = "0"


class LeaveBody(Body):
    """The client's last words."""

    state: Annotated[str, Field(description="The state of the newest answer.")]
    sequence: Annotated[
        int,
        Field(
            strict=True,
            ge=1,
            le=_SEQUENCE_MAX,
            description="One higher with each poll, over joins.",
        ),
    ]
    stopped: Annotated[
        tuple[WorkBody, ...],
        FailFast(),
        Field(
            max_length=WORKS_MAX,
            description="What the client has stopped and no answer has confirmed yet.",
        ),
    ] = ()


class PollBody(LeaveBody):
    """A poll: heartbeat, progress, release and waiting for news in one."""

    wait_ms: Annotated[
        int,
        Field(strict=True, ge=0, le=60_000, description="How long to wait for news, at most."),
    ] = 0
    working: Annotated[
        tuple[WorkBody, ...],
        FailFast(),
        Field(max_length=WORKS_MAX, description="All queues on which the client works now."),
    ] = ()
    topics: Annotated[
        tuple[TopicBody, ...] | None,
        Field(min_length=1, max_length=_TOPICS_MAX, description="To change the subscription."),
    ] = None
    leaving: Annotated[
        bool,
        Field(
            strict=True, description="The client starts nothing more, and stops what `stop` names."
        ),
    ] = False
    decide: Annotated[bool, Field(strict=True, description="The engine shall decide at once.")] = (
        False
    )
    standby: Annotated[
        Literal["wait", "follow", "freeze", "own"] | None,
        Field(
            description="Where one is that joined with standby; each of its polls says it. It says "
            "own only once nothing runs that has no epoch."
        ),
    ] = None
    frozen: Annotated[
        FrozenBody | None,
        Field(description="The answer to a freeze, with each poll until another answer comes."),
    ] = None

    def poll(self, version: int) -> Poll:
        """Return the words of the poll; ``version`` orders subscriptions of one topic."""
        return Poll(
            self.sequence,
            tuple(Work(*_work(each)) for each in self.working),
            tuple(Stopped(*_work(each)) for each in self.stopped),
            None if self.topics is None else subscriptions_of(self.topics, version),
            self.leaving,
            self.decide,
            None if self.standby is None else Standing(self.standby),
            None if self.frozen is None else frozen_of(self.frozen),
        )


def body_of(model: type[_Any], data: bytes) -> _Any | Refusal:
    """Return the body of a request, or why it is refused."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        # Who mistypes a field lacks it too: the mistyped one says more.
        unknown = (each for each in found if each["type"] == "extra_forbidden")
        first = next(unknown, found[0])
        return _refusal(model, first)


def _refusal(model: type[BaseModel], error: "ErrorDetails") -> Refusal:
    kind, where, says = error["type"], error["loc"], error["msg"]
    field = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in where)
    field = field.removeprefix(".")[:_SHOWN_MAX]
    remedy = "Correct the field; openapi.json has its form."
    if kind == "json_invalid":
        return Refusal(400, "bad_json", says, "Send a JSON object.", "body")
    if kind == "extra_forbidden":
        known = _fields_at(model, where[:-1])
        near = get_close_matches(str(where[-1]), known, 1)
        remedy = f"Did you mean {near[0]}?" if near else f"Known are: {', '.join(known)}."
        return Refusal(422, "unknown_field", f"{field}: there is no such field.", remedy, field)
    if kind == "literal_error":
        near = get_close_matches(str(error["input"]), _WORD.findall(error["ctx"]["expected"]), 1)
        remedy = f"Did you mean {near[0]}?" if near else "Send one of these."
    return Refusal(422, "bad_field", f"{field}: {says}.", remedy, field)


def _fields_at(model: type[BaseModel], where: tuple[int | str, ...]) -> list[str]:
    """Return the fields of the object at this place of a body."""
    for name in where:
        if isinstance(name, str):
            model = _model_in(model.model_fields[name].annotation)
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel]:
    """Return the model that a type names, such as the one of a list's entries."""
    todo = [annotation]
    while todo:
        each = todo.pop()
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each
        todo += get_args(each)
    raise AssertionError("only an object has an unknown field")


def checked_join(body: JoinBody) -> Refusal | None:
    """Return why the names of a join are refused; None: they are right."""
    if not CLIENT_ID.allows(body.client_id):
        return bad_text("client_id", body.client_id, CLIENT_ID.words)
    if body.process is not None and not UUID.allows(body.process.uuid):
        return bad_text("process.uuid", body.process.uuid, UUID.words)
    if body.zone is not None and not LABEL.allows(body.zone):
        return bad_text("zone", body.zone, LABEL.words)
    for field, text in (("language", body.language), ("version", body.version)):
        if not LABEL.allows(text):
            return bad_text(field, text, LABEL.words)
    return checked_standby(body.data_plane, body.standby) or checked_topics(body.topics)


def checked_topics(topics: tuple[TopicBody, ...] | None) -> Refusal | None:
    """Return why the names of topics are refused; None: they are right."""
    seen: set[str] = set()
    for index, each in enumerate(topics or ()):
        if not TOPIC.allows(each.topic):
            return bad_text(f"topics[{index}].topic", each.topic, TOPIC.words)
        if each.topic in seen:
            detail = f"topics[{index}].topic: {each.topic!r} is named twice."
            remedy = "Name each topic once, with all its tags."
            return Refusal(422, "bad_field", detail, remedy, f"topics[{index}].topic")
        seen.add(each.topic)
        for tag in each.tags:
            if tag != "*" and ("||" in tag or not TAG.allows(tag)):
                return bad_text(f"topics[{index}].tags", tag, TAG.words)
    return None


def subscriptions_of(topics: tuple[TopicBody, ...], version: int) -> tuple[Subscription, ...]:
    """Return the subscriptions of a request's topics."""
    return tuple(
        Subscription(
            each.topic,
            "*" if "*" in each.tags or not each.tags else " || ".join(each.tags),
            sub_version=version,
        )
        for each in topics
    )


def _work(body: WorkBody) -> tuple[Queue, Epoch, int, int | None]:
    return Queue(*body.queue), Epoch(*body.epoch), body.position, body.end


def stopped_of(body: LeaveBody) -> tuple[Stopped, ...]:
    """Return what a client has stopped."""
    return tuple(Stopped(*_work(each)) for each in body.stopped)
