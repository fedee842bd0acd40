"""The bodies of a thin client's requests, and of the answers, as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_words import (
    Joined,
    NoticeWords,
    Poll,
    PollAnswer,
    Start,
    Stop,
    Stopped,
    WaitingWords,
    Work,
)

__all__ = ["join_body", "joined_of", "leave_body", "poll_body", "polled_of", "problem_of"]

_PROBLEM_NAMES: Final = "urn:fairlead:"


def join_body(member: Mapping[str, Any], topics: Sequence[Subscription]) -> bytes:
    """Return the body of a join; `member` has all fields but the topics."""
    return orjson.dumps({**member, "topics": _topics(topics)})


def poll_body(poll: Poll, wait_ms: int) -> bytes:
    """Return the body of a poll that waits for news so long."""
    body: dict[str, Any] = {
        **_last_words(poll),
        "wait_ms": wait_ms,
        "working": [_work(work) for work in poll.working],
    }
    if poll.subscriptions is not None:
        body["topics"] = _topics(poll.subscriptions)
    if poll.leaving:
        body["leaving"] = True
    if poll.decide:
        body["decide"] = True
    if poll.standing is not None:
        body["standby"] = poll.standing
    if poll.frozen is not None:
        held = [{"queue": queue, "position": offset} for queue, offset in poll.frozen.queues]
        body["frozen"] = {"epoch": poll.frozen.epoch, "queues": held}
    return orjson.dumps(body, default=tuple)


def leave_body(poll: Poll) -> bytes:
    """Return the body of a session's last request."""
    return orjson.dumps(_last_words(poll), default=tuple)


def _last_words(poll: Poll) -> dict[str, Any]:
    stopped = [_work(work) for work in poll.stopped]
    return {"state": poll.state, "sequence": poll.sequence, "stopped": stopped}


def _work(work: Work | Stopped) -> dict[str, Any]:
    end = {} if work.end is None else {"end": work.end}
    return {"queue": work.queue, "epoch": work.epoch, "position": work.position, **end}


def _topics(topics: Sequence[Subscription]) -> list[dict[str, Any]]:
    return [{"topic": each.topic, "tags": each.wanted_tags or ("*",)} for each in topics]


def joined_of(data: bytes) -> Joined:
    """Return the answer to a join.

    Raises:
        MalformedRecordError: it is none.
    """
    try:
        body = orjson.loads(data)
        return Joined(
            str(body["session"]),
            str(body["state"]),
            str(body["client_id"]),
            int(body["lease_ms"]),
            int(body["poll_ms"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedRecordError("join", f"the answer is none: {error!r}") from error


def polled_of(data: bytes) -> PollAnswer:
    """Return the answer to a poll; fields that this client does not know mean nothing to it.

    Raises:
        MalformedRecordError: it is none.
    """
    try:
        body = orjson.loads(data)
        waiting = body.get("waiting")
        standing = Standing(body.get("standby", Standing.OWN))
        return PollAnswer(
            str(body["state"]),
            int(body["lease_ms"]),
            tuple(_start(entry) for entry in body["start"]),
            tuple(Stop(*_name(entry), int(entry["deadline_ms"])) for entry in body["stop"]),
            tuple(_name(entry) for entry in body["working"]),
            None if waiting is None else WaitingWords(waiting["kind"], waiting["words"]),
            tuple(
                NoticeWords(str(entry["code"]), str(entry["message"]))
                for entry in body.get("notices", ())
            ),
            standing,
            _epoch(body["freeze"]) if standing is Standing.FREEZE else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedRecordError("poll", f"the answer is none: {error!r}") from error


def _start(entry: Mapping[str, Any]) -> Start:
    return Start(
        *_name(entry),
        int(entry["offset"]),
        str(entry.get("why", "")),
        int(entry.get("reset", 0)),
        entry.get("identity"),
        entry.get("granted"),
        entry.get("former") is True,
    )


def _name(entry: Mapping[str, Any]) -> tuple[Queue, Epoch]:
    topic, broker_name, queue_id = entry["queue"]
    return Queue(str(topic), str(broker_name), int(queue_id)), _epoch(entry["epoch"])


def _epoch(pair: Sequence[Any]) -> Epoch:
    generation, number = pair
    return Epoch(int(generation), int(number))


def problem_of(data: bytes) -> dict[str, str]:
    """Return the members of a problem that are texts, with its short type as `kind`."""
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(body, dict):
        return {}
    texts = {name: value for name, value in body.items() if isinstance(value, str)}
    return {**texts, "kind": texts.get("type", "").removeprefix(_PROBLEM_NAMES)}
