"""How the vectors of the thin session write events and actions: rows of plain JSON.

A queue is a number: 3 is ["orders","main",3]. An epoch is [generation, number].
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.thin import thin_session as words
from fairlead_client.thin.thin_words import (
    Joined,
    Poll,
    PollAnswer,
    Start,
    Stop,
    Stopped,
    Work,
)

__all__ = ["QUEUES", "action_row", "handle", "queue_of"]

QUEUES: Final = 4
"""How many queues there are in the vectors."""

Row = list[Any]


def queue_of(number: int) -> Queue:
    """Return the queue of a number."""
    return Queue("orders", "main", number)


def handle(session: words.ThinSession, event: Sequence[Any], now_ms: int) -> list[words.Action]:
    """Tell the session an event: its name, then its values."""
    match event:
        case ["passed"]:
            done = session.passed(now_ms)
        case ["joined", number, values]:
            done = session.joined(number, Joined(client_id="me", **values), now_ms)
        case ["answered", number, values]:
            done = session.answered(number, _answer(values), now_ms)
        case ["failed", number]:
            done = session.failed(number, now_ms)
        case ["lost", number, reason]:
            done = session.lost(number, reason, now_ms)
        case ["left"]:
            done = session.left(now_ms)
        case ["progressed", queue, epoch, offset, end]:
            done = session.progressed(queue_of(queue), Epoch(*epoch), offset, end, now_ms)
        case ["stopped", queue, epoch, offset, end]:
            done = session.stopped(queue_of(queue), Epoch(*epoch), offset, end, now_ms)
        case ["subscribe", topics]:
            done = session.subscribe(tuple(Subscription(topic) for topic in topics), now_ms)
        case ["leave"]:
            done = session.leave(now_ms)
        case _:
            raise AssertionError(event)
    return done


def _answer(values: Mapping[str, Any]) -> PollAnswer:
    return PollAnswer(
        values["state"],
        values["lease_ms"],
        tuple(Start(queue_of(queue), Epoch(*epoch), at) for queue, epoch, at in values["start"]),
        tuple(Stop(queue_of(queue), Epoch(*epoch), left) for queue, epoch, left in values["stop"]),
        tuple((queue_of(queue), Epoch(*epoch)) for queue, epoch in values["working"]),
    )


def action_row(action: words.Action) -> Row:
    """Return an action as a row."""
    match action:
        case words.SendJoin(number):
            return ["send_join", number]
        case words.SendPoll(poll):
            return ["send_poll", _poll(poll)]
        case words.SendLeave(poll):
            return ["send_leave", _poll(poll)]
        case words.StartWork(queue, epoch, offset):
            return ["start_work", queue.queue_id, list(epoch), offset]
        case words.StopWork(queue, epoch):
            return ["stop_work", queue.queue_id, list(epoch)]
        case words.Abandon(queue, epoch):
            return ["abandon", queue.queue_id, list(epoch)]
        case words.StopAll(reason, work):
            return ["stop_all", reason, [[queue.queue_id, list(epoch)] for queue, epoch in work]]
        case words.Close(reason):
            return ["close", reason]
        case never:
            assert_never(never)


def _poll(poll: Poll) -> dict[str, Any]:
    topics = poll.subscriptions
    return {
        "session": poll.session,
        "state": poll.state,
        "sequence": poll.sequence,
        "wait_ms": poll.wait_ms,
        "working": [_work(work) for work in poll.working],
        "stopped": [_work(work) for work in poll.stopped],
        "topics": None if topics is None else [each.topic for each in topics],
        "leaving": poll.leaving,
    }


def _work(work: Work | Stopped) -> Row:
    return [work.queue.queue_id, list(work.epoch), work.position, work.end]
