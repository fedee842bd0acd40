"""Groups as people read them: a row of a list, and the lines of one group's state."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fairlead.cli.render.decision import decision_words
from fairlead.cli.render.queue import lag_words
from fairlead.cli.render.rule import origin_words
from fairlead.counts import counted, listed
from fairlead.durations import since_words
from fairlead.history.formatting import epoch_words
from fairlead.observed.phase_words import ALARMS, PHASES

if TYPE_CHECKING:
    from fairlead.observed.group_standing import GroupStanding

__all__ = [
    "GROUP_COLUMNS",
    "NARROW_COLUMNS",
    "Summary",
    "bridge_lines",
    "engine_line",
    "engine_words",
    "group_rows",
    "noticed",
    "phase_shown",
    "phase_words",
    "state_lines",
]

Summary = Mapping[str, Any]
"""A group as `fairlead serve` tells it."""

GROUP_COLUMNS: Final = (
    *("group", "phase", "members", "idle", "queues", "unassigned", "handover", "lag", "waiting"),
    *("epoch", "last", "trigger", "moves", "problem"),
)
NARROW_COLUMNS: Final = ("group", "phase", "members", "unassigned", "lag", "problem")
"""The columns for a narrow terminal."""
_LIST_MAX: Final = 5
_NO_ENGINE: Final = "owners keep working, nothing is decided (fairlead run)"


def group_rows(groups: Iterable[Summary], now_ms: int) -> Iterable[dict[str, Any]]:
    """Yield each group as a row of the table; ``now_ms``: the time of the list."""
    for each in groups:
        last = each["last_rebalance"]
        yield {
            "group": each["group"],
            "phase": phase_shown(each),
            "members": each["members"],
            "idle": each["members_idle"],
            "queues": each["queues"],
            "unassigned": each["queues_unassigned"],
            "handover": each["queues_in_handover"],
            "lag": each["lag_messages"],
            "waiting": lag_words(each["lag_ms"], at_least=each["lag_at_least"]),
            "epoch": None if each["epoch"] is None else epoch_words(each["epoch"]),
            "last": None if last is None else since_words(last["append_ms"], now_ms),
            "trigger": None if last is None else ", ".join(last["triggers"]),
            "moves": None if last is None else last["queues_moved"],
            "problem": ", ".join(noticed(each)) or None,
        }


def phase_shown(group: Summary) -> str:
    """Return the phase as a list shows it: a released group says so behind it."""
    return f"{group['phase']}, released" if group.get("released") else str(group["phase"])


def noticed(group: Summary) -> list[str]:
    """Return the problems, as `fairlead group check` finds them, then alarms that are no fault."""
    return [*group["problems"], *(f"alarm {alarm}" for alarm in group["other_alarms"])]


def engine_line(groups: Sequence[Summary]) -> str | None:
    """Return a line if no engine ticks, for all of these groups or for some."""
    silent = [each["engine"] for each in groups if each["engine"]["silent"]]
    if not silent:
        return None
    newest = min(silent, key=lambda engine: (engine["silent_ms"] is None, engine["silent_ms"]))
    whose = "" if len(silent) == len(groups) else f" for {len(silent)} of {len(groups)} groups"
    return f"engine: {newest['says']}{whose}: {_NO_ENGINE}"


def bridge_lines(bridges: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each bridge that does not follow its cluster."""
    return [f"bridge: {each['says']}" for each in bridges if each["verdict"] != "running"]


def phase_words(standing: "GroupStanding", now_ms: int) -> str:
    """Return the phase of a group, for how long it lasts, and what it means."""
    since = since_words(standing.summary.phase_since_ms, now_ms)
    lasting = "" if since is None else f" for {since}"
    return f"{standing.phase}{lasting}: {PHASES.get(standing.phase, 'a phase of a newer engine')}"


def state_lines(standing: "GroupStanding") -> Iterator[tuple[str, str]]:
    """Yield the state of a group: words and their texts."""
    state, now_ms = standing.to_json(), standing.now_ms
    yield "group", standing.name
    yield "phase", phase_words(standing, now_ms)
    if standing.release is not None:
        ago = since_words(standing.release.written_ms, now_ms)
        yield "released", f"{ago} ago: {standing.release.words()}"
    words = (state["strategy"], state["mode"], state["message_model"])
    yield "strategy", ", ".join(filter(None, words))
    waited = f", waiting for {', '.join(state['awaited'])}" if state["awaited"] else ""
    yield "members", f"{state['members']}, {state['members_idle']} idle{waited}"
    what = ("unassigned", "draining", "gated", "unsafe")
    counts = [f"{state[f'queues_{word}']} {word}" for word in what]
    topics = len({each.queue.topic for each in standing.queues})
    known = f"{len(standing.queues)} of {counted(topics, 'topic')}, {state['queues']} shared"
    yield "queues", f"{known}: {', '.join(counts)}"
    if state["unrouted"]:
        yield "no route", ", ".join(state["unrouted"])
    yield "lag", _lag_words(standing)
    yield "converged", _converged_words(standing)
    yield "engine", engine_words(standing)
    yield "decision", _decision_words(standing, state["decision"])
    for alarm in () if standing.newest is None else standing.newest.alarms:
        yield f"alarm {alarm}", ALARMS.get(alarm, "an alarm of a newer engine")
    for topic, failure in ({} if standing.newest is None else standing.newest.failures).items():
        yield f"failure {topic}", failure.message
    for row in state["rules"]:
        subject = f" of {row['for']}" if row["for"] else ""
        because = f", because {row['because']}" if row.get("because") else ""
        yield (
            f"rule {row['rule']}{subject}",
            f"{row['says']} ({origin_words(row)}, {row['by']}{because})",
        )


def _lag_words(standing: "GroupStanding") -> str:
    if standing.lag is None:
        return "unknown: nobody has reported positions and ends"
    unknown = sum(each.place.lag is None for each in standing.queues)
    waits = lag_words(standing.lag_ms, at_least=standing.lag_at_least)
    oldest = "" if waits is None else f", the oldest waits {waits}"
    beside = f"; unknown for {counted(unknown, 'queue')}" if unknown else ""
    return f"{counted(standing.lag, 'message')}{oldest if standing.lag else ''}{beside}"


def _converged_words(standing: "GroupStanding") -> str:
    reasons = standing.behind
    if standing.summary.converged:
        return "yes" if standing.members else "yes, without members"
    return f"no: {listed(reasons, '; ', _LIST_MAX)}"


def engine_words(standing: "GroupStanding") -> str:
    """Return whether an engine runs, and what it means for the group if none does."""
    words = standing.engine.words()
    return f"{words}: {_NO_ENGINE}" if standing.engine.silent else words


def _decision_words(standing: "GroupStanding", head: Mapping[str, Any] | None) -> str:
    newest, epoch = standing.newest, standing.summary.epoch
    if newest is not None and head is not None:
        return decision_words(newest, standing.now_ms, head["queues_moved"])
    if epoch is None:
        return "none in the log"
    return f"{epoch_words(epoch)}; it is older than what was read"
