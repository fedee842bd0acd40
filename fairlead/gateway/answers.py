"""The bodies of the gateway's answers: one model each, a source of openapi.json.

Answers are written without their models, which would cost more than all the rest of an answer.
"""

from typing import Annotated, Any, Literal

import orjson
from fairlead_client.session.states import Standing
from fairlead_client.session.waiting import WaitingKind
from fairlead_client.thin.thin_words import Joined, PollAnswer
from pydantic import Field

from fairlead.gateway.requests import Body, EpochField, EpochPair, Number, QueueField

__all__ = ["JoinAnswer", "PollResult", "joined_json", "polled_json"]

_State = Annotated[
    str, Field(description="What any gateway needs to go on: the next request sends it as it is.")
]
_LeaseMs = Annotated[
    Number,
    Field(description="How long the client may work; counts from before the request was sent."),
]


class StartBody(Body):
    """The client may read the queue from this offset on."""

    queue: QueueField
    epoch: Annotated[EpochPair, Field(description="Names this work in every later request.")]
    offset: Annotated[Number, Field(description="The first offset to read.")]
    why: Annotated[
        str, Field(description="release: its former holder has stopped; grant: nobody had it.")
    ]
    reset: Annotated[
        Number,
        Field(description="The operator's reset that the offset follows; a commit names it."),
    ]
    identity: Annotated[
        str | None,
        Field(description="The identity of the topic to which the offset belongs, if known."),
    ]
    granted: Annotated[
        Number, Field(description="Where the engine itself would begin, whatever the holder said.")
    ]
    former: Annotated[
        bool,
        Field(
            description="The client holds the queue frozen: it goes on where it is, under this "
            "epoch. Left out: false."
        ),
    ] = False


class StopBody(Body):
    """The client finishes what is in hand and says stopped."""

    queue: QueueField
    epoch: EpochField
    deadline_ms: Annotated[
        Number, Field(description="So long it may finish what is in hand; 0: stop at once.")
    ]


class HeldBody(Body):
    """A queue that the gateway holds the client to be working on."""

    queue: QueueField
    epoch: EpochField


class JoinAnswer(Body):
    """The answer to a join."""

    session: Annotated[str, Field(description="Names the session in the paths of its polls.")]
    state: _State
    client_id: Annotated[str, Field(description="The client id of the join.")]
    lease_ms: _LeaseMs
    poll_ms: Annotated[Number, Field(description="The longest time between two polls.")]


class WaitingBody(Body):
    """Why the client waits for queues."""

    kind: Annotated[
        str, Field(description=f"The reason in one word: {', '.join(WaitingKind)}. More may come.")
    ]
    words: Annotated[str, Field(description="The reason in a sentence.")]


class NoticeBody(Body):
    """What the engine has to say to the client; it may come again."""

    code: Annotated[str, Field(description="What it is about, in one word.")]
    message: Annotated[str, Field(description="What the engine says.")]


class PollResult(Body):
    """The answer to a poll."""

    state: _State
    lease_ms: _LeaseMs
    start: Annotated[
        tuple[StartBody, ...],
        Field(description="Queues to start; each comes again until a poll names it in `working`."),
    ]
    stop: Annotated[
        tuple[StopBody, ...], Field(description="Queues to stop; others may wait for them.")
    ]
    working: Annotated[
        tuple[HeldBody, ...], Field(description="What is not in it is stopped at once.")
    ]
    waiting: Annotated[
        WaitingBody | None, Field(description="Why the client waits; null: it does not.")
    ]
    notices: Annotated[
        tuple[NoticeBody, ...], Field(description="What the engine tells the client.")
    ]
    standby: Annotated[
        Literal["wait", "follow", "freeze"] | None,
        Field(
            description="What one does that stands by: hold nothing, follow its data plane's "
            "strategy, or keep what it holds and take nothing. Left out: `start` and `stop` say it."
        ),
    ] = None
    freeze: Annotated[
        EpochPair | None,
        Field(description="With standby freeze: names it; `frozen` of the polls answers it."),
    ] = None


def joined_json(joined: Joined) -> bytes:
    """Return the answer to a join."""
    return orjson.dumps(joined)


def polled_json(answer: PollAnswer) -> bytes:
    """Return the answer to a poll."""
    body: dict[str, Any] = {
        "state": answer.state,
        "lease_ms": answer.lease_ms,
        "start": [
            {
                "queue": each.queue,
                "epoch": each.epoch,
                "offset": each.offset,
                "why": each.why,
                "reset": each.reset,
                "identity": each.identity,
                "granted": each.granted,
                **({"former": True} if each.former else {}),
            }
            for each in answer.start
        ],
        "stop": [
            {"queue": each.queue, "epoch": each.epoch, "deadline_ms": each.deadline_ms}
            for each in answer.stop
        ],
        "working": [{"queue": queue, "epoch": epoch} for queue, epoch in answer.working],
        "waiting": answer.waiting,
        "notices": answer.notices,
    }
    if answer.standing is not Standing.OWN:
        body["standby"] = answer.standing
    if answer.freeze is not None:
        body["freeze"] = answer.freeze
    return orjson.dumps(body, default=tuple)
