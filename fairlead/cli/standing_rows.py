"""How a group stands as rows of tables, and as the lines of its state."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fairlead.cli.rule_rows import time_words, unusual_rules
from fairlead.counts import counted
from fairlead.durations import duration_words, since_words
from fairlead.observed.phase_words import ALARMS, PHASES, causes_words

if TYPE_CHECKING:
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.member_standing import MemberStanding
    from fairlead.observed.positions import QueuePosition
    from fairlead.observed.queue_standing import GrantHolder

__all__ = [
    "MEMBER_COLUMNS",
    "QUEUE_COLUMNS",
    "engine_words",
    "member_rows",
    "queue_rows",
    "shown_columns",
    "state_lines",
    "state_rules",
]

QUEUE_COLUMNS: Final = (
    *("queue", "held", "draining", "gated", "target", "waits for", "epoch", "for"),
    *("position", "end", "lag", "waiting", "remark"),
)
MEMBER_COLUMNS: Final = (
    *("client", "incarnation", "address", "zone", "capacity", "version", "heard", "lease left"),
    *("held", "draining", "gated", "role", "why"),
)
_MAY_BE_LEFT_OUT: Final = frozenset(
    (
        *("draining", "gated", "target", "waits for", "remark"),
        *("why", "zone", "capacity", "address", "incarnation"),
    )
)
_LIST_MAX: Final = 5


def shown_columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns without those that would say nothing in any row."""

    def says(name: str) -> bool:
        if name == "target":
            return any(row["target"] != row["held"] for row in rows)
        if name == "incarnation":
            # It is long, and tells two lives of one client apart.
            return len({row["client"] for row in rows}) < len(rows)
        values = {row.get(name) for row in rows} - {None, "", 0}
        return bool(values - {1} if name == "capacity" else values)

    return tuple(name for name in columns if name not in _MAY_BE_LEFT_OUT or says(name))


def queue_rows(found: "GroupStanding") -> Iterator[dict[str, Any]]:
    """Yield each queue: owners side by side, where the group is in it, and what is odd."""
    for each in found.queues:
        newest, place = each.newest, each.place
        waits = [one.client_id for gated in each.gated for one in gated.waits_for]
        position = place.position
        yield {
            "queue": "/".join(map(str, each.queue)),
            "held": _names(each.held),
            "draining": _names(each.draining),
            "gated": _names(each.gated),
            "target": each.target,
            "waits for": ", ".join(waits) or None,
            "epoch": None if newest is None else ".".join(map(str, newest.epoch)),
            "for": None if newest is None else since_words(newest.since_ms, found.now_ms),
            "position": None if position is None else position.offset,
            "end": place.end,
            "lag": place.lag,
            "waiting": _waiting(place),
            "remark": ", ".join(_remarks(found, each)) or None,
        }


def _remarks(found: "GroupStanding", each: Any) -> Iterator[str]:
    if each.unassigned:
        yield "nobody"
    if len(each.held) > 1:
        yield "overlap"
    if each.unsafe:
        yield "unsafe"
    if each.place.end_is_older:
        yield "its end was told before the position"
    if not each.readable and found.live.planned.members:
        yield "not shared"


def _names(holders: Sequence["GrantHolder"]) -> str | None:
    names = (
        each.member.client_id if each.alive else f"{each.member.client_id} (silent)"
        for each in holders
    )
    return ", ".join(names) or None


def _waiting(place: "QueuePosition") -> str | None:
    if place.lag_ms is None:
        return None
    return ("> " if place.lag_at_least else "") + duration_words(place.lag_ms)


def member_rows(found: "GroupStanding") -> Iterator[dict[str, Any]]:
    """Yield each member: what it says of itself, and what it has."""
    for each in found.members:
        said = each.profile
        yield {
            "client": each.key.client_id,
            "incarnation": each.key.incarnation,
            "address": said and (said.address or None),
            "zone": said and said.zone,
            "capacity": said and said.capacity,
            "version": said and f"{said.language} {said.version}",
            "heard": since_words(each.heard_ms, found.now_ms),
            "lease left": _lease_words(each),
            "held": each.held,
            "draining": each.draining,
            "gated": each.gated,
            "role": each.role,
            "why": each.why or ("has not read what it was told" if each.behind else None),
        }


def _lease_words(member: "MemberStanding") -> str | None:
    if member.lease_left_ms is None:
        return None
    return duration_words(member.lease_left_ms) if member.lease_left_ms > 0 else "over"


def state_rules(found: "GroupStanding", control: str) -> list[dict[str, Any]]:
    """Return the rules that differ from what is usual; ``control`` is the topic's name."""
    return list(unusual_rules(found.live.in_force, control))


def state_lines(
    found: "GroupStanding", rules: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the state of a group: a word, and what is to be said of it."""
    said, now_ms = found.to_json(), found.now_ms
    yield "group", found.name
    for_how_long = since_words(found.summary.phase_since_ms, now_ms)
    since = "" if for_how_long is None else f" for {for_how_long}"
    yield "phase", f"{found.phase}{since}: {PHASES.get(found.phase, 'a phase of a newer engine')}"
    if found.release is not None:
        ago = since_words(found.release.written_ms, now_ms)
        yield "released", f"{ago} ago: {found.release.words()}"
    yield "strategy", ", ".join(filter(None, (said["strategy"], said["mode"], said["model"])))
    waited = f", waiting for {', '.join(said['awaited'])}" if said["awaited"] else ""
    yield "members", f"{said['members']}, {said['members_idle']} without queues{waited}"
    counts = [f"{said[word]} {word}" for word in ("unassigned", "draining", "gated", "unsafe")]
    topics = len({each.queue.topic for each in found.queues})
    known = f"{len(found.queues)} of {counted(topics, 'topic')}, {said['queues']} shared"
    yield "queues", f"{known}: {', '.join(counts)}"
    if said["unrouted"]:
        yield "no route", ", ".join(said["unrouted"])
    yield "lag", _lag_words(found)
    yield "converged", _converged_words(found)
    yield "engine", engine_words(found)
    yield "decision", _decision_words(found)
    for alarm in () if found.newest is None else found.newest.alarms:
        yield f"alarm {alarm}", ALARMS.get(alarm, "an alarm of a newer engine")
    for topic, why in ({} if found.newest is None else found.newest.failures).items():
        yield f"failure {topic}", why
    for row in rules:
        subject = f" of {row['for']}" if row["for"] else ""
        because = f", because {row['because']}" if row.get("because") else ""
        yield f"rule {row['rule']}{subject}", f"{row['says']} ({row['from']}, {row['by']}{because})"


def _lag_words(found: "GroupStanding") -> str:
    if found.lag is None:
        return "not known: nobody has told positions and ends"
    unknown = sum(each.place.lag is None for each in found.queues)
    oldest = "" if found.lag_ms is None else f", the oldest waits {duration_words(found.lag_ms)}"
    beside = f"; of {counted(unknown, 'queue')} it is not known" if unknown else ""
    return f"{counted(found.lag, 'message')}{oldest if found.lag else ''}{beside}"


def _converged_words(found: "GroupStanding") -> str:
    reasons = found.behind
    if not reasons:
        return "yes" if found.members else "yes, there is nobody"
    more = f" and {len(reasons) - _LIST_MAX} more" if len(reasons) > _LIST_MAX else ""
    return f"no: {'; '.join(reasons[:_LIST_MAX])}{more}"


def engine_words(found: "GroupStanding") -> str:
    """Say whether an engine runs, and what it means for the group if none does."""
    words = found.engine.words()
    return (
        f"{words}: owners go on, nothing is decided (fairlead run)"
        if found.engine.silent
        else words
    )


def _decision_words(found: "GroupStanding") -> str:
    newest, epoch = found.newest, found.summary.epoch
    if newest is None:
        if epoch is None:
            return "none in the log"
        return f"{'.'.join(map(str, epoch))}; it stands farther back than was read"
    moved = counted(found.to_json()["decision"]["queues_moved"], "queue")
    ago = since_words(newest.written_ms, found.now_ms)
    why = causes_words(newest.causes, newest.triggers)
    return f"{newest.epoch} at {time_words(newest.written_ms)}, {ago} ago: {why}; {moved} moved"
