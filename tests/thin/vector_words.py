"""How the vectors of the thin session write events and actions: rows of plain JSON.

A queue is a number: 3 is ["orders","main",3]. An epoch is [generation, number].
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.states import Standing
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
        case ["leave", hand_over_ms]:
            done = session.leave(now_ms, hand_over_ms)
        case _:
            done = _handle_standing(session, event, now_ms)
    return done


def _handle_standing(
    session: words.ThinSession, event: Sequence[Any], now_ms: int
) -> list[words.Action]:
    match event:
        case ["frozen", epoch, held]:
            queues = {queue_of(queue): offset for queue, offset in held}
            return session.frozen(Epoch(*epoch), queues, now_ms)
        case ["unfollowed"]:
            return session.unfollowed(now_ms)
        case _:
            raise AssertionError(event)


def _answer(values: Mapping[str, Any]) -> PollAnswer:
    freeze = values.get("freeze")
    return PollAnswer(
        values["state"],
        values["lease_ms"],
        tuple(_start(*row) for row in values["start"]),
        tuple(Stop(queue_of(queue), Epoch(*epoch), left) for queue, epoch, left in values["stop"]),
        tuple((queue_of(queue), Epoch(*epoch)) for queue, epoch in values["working"]),
        standing=Standing(values.get("standby", Standing.OWN)),
        freeze=None if freeze is None else Epoch(*freeze),
    )


def _start(queue: int, epoch: Row, offset: int, *former: bool) -> Start:
    return Start(queue_of(queue), Epoch(*epoch), offset, former=any(former))


def action_row(action: words.Action) -> Row:
    """Return an action as a row."""
    match action:
        case words.SendJoin(number):
            return ["send_join", number]
        case words.SendPoll(poll):
            return ["send_poll", _poll(poll)]
        case words.SendLeave(poll):
            return ["send_leave", _poll(poll)]
        case words.StopAll(reason, work):
            return ["stop_all", reason, [[queue.queue_id, list(epoch)] for queue, epoch in work]]
        case words.Close(reason):
            return ["close", reason]
        case _:
            return _work_row(action)


def _work_row(
    action: words.StartWork
    | words.StopWork
    | words.Abandon
    | words.Follow
    | words.Freeze
    | words.StopFollowing,
) -> Row:
    match action:
        case words.StartWork(queue, epoch, offset, former=former):
            row = ["start_work", queue.queue_id, list(epoch), offset]
            return [*row, True] if former else row
        case words.StopWork(queue, epoch):
            return ["stop_work", queue.queue_id, list(epoch)]
        case words.Abandon(queue, epoch):
            return ["abandon", queue.queue_id, list(epoch)]
        case words.Follow():
            return ["follow"]
        case words.Freeze(epoch):
            return ["freeze", list(epoch)]
        case words.StopFollowing():
            return ["stop_following"]
        case never:
            assert_never(never)


def _poll(poll: Poll) -> dict[str, Any]:
    topics, frozen = poll.subscriptions, poll.frozen
    said: dict[str, Any] = {
        "session": poll.session,
        "state": poll.state,
        "sequence": poll.sequence,
        "wait_ms": poll.wait_ms,
        "working": [_work(work) for work in poll.working],
        "stopped": [_work(work) for work in poll.stopped],
        "topics": None if topics is None else [each.topic for each in topics],
        "leaving": poll.leaving,
    }
    if poll.standing is not None:
        said["standby"] = poll.standing.value
    if frozen is not None:
        held = [[queue.queue_id, offset] for queue, offset in frozen.queues]
        said["frozen"] = [list(frozen.epoch), held]
    return said


def _work(work: Work | Stopped) -> Row:
    return [work.queue.queue_id, list(work.epoch), work.position, work.end]
