"""What is wrong with a group, in words, and what to do about it.

`fairlead.observed.problems` decides what counts as a problem, here and for a list of groups. This
file names the queue, member or topic concerned.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fairlead.bridges.kafka.untold_queues import UNTOLD_REMEDY
from fairlead.core.membership.member_disagreement import worded
from fairlead.core.model import MessageQueue
from fairlead.counts import counted, listed
from fairlead.durations import duration_words
from fairlead.observed.finding import Finding
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.member_standing import MemberStanding
from fairlead.observed.phase_words import PHASES
from fairlead.observed.problem_inputs import problem_inputs
from fairlead.observed.problems import ProblemInputs, problems_of
from fairlead.observed.queue_standing import GrantHolder, QueueStanding
from fairlead.observed.restarts import RESTARTS_OVER_MS

__all__ = ["standing_findings"]

_PHASES: Final = {
    "recovering": (
        "wait lease and margin, until every live member has acknowledged; then find out "
        "from the engine's log why it lost its checkpoint"
    ),
    "quarantined": (
        "find the record that it fails on in the rejects topic or the engine's log; owners keep "
        "working meanwhile, but no queue moves"
    ),
    "barrier": "find the member that has not acknowledged and restart it, or set --on-mute force",
}
_FAILED: Final = "set a strategy or options that can allocate it; `fairlead plan` shows the result"
_MAKE_IT: Final = (
    "create the topic, or change what the clients subscribe to; if it is on another cluster, check "
    "that a bridge runs there"
)
_NOBODY: Final = {
    "drained_empty": "undrain one of the members that subscribe to its topic",
    "designation_empty": "start a designated client, or remove the rule (--designated)",
}


@dataclass(frozen=True, slots=True)
class _Look:
    """A group, and the inputs of its problems."""

    found: GroupStanding
    signs: ProblemInputs

    @property
    def paused(self) -> bool:
        """Whether the group is paused."""
        return self.signs.rules.pause

    def unassigned(self) -> list[Finding]:
        """Return the queues that nobody holds and nobody gets."""
        problem, text, remedy = "unassigned", "no member holds or gets it", self._nobody
        release = self.found.release
        if release is not None:
            # Whether or not the group is paused or somebody is drained.
            text = f"no Fairlead client gets it: {release.words()}"
            remedy = release.way_back(self.found.name)
            problem = "paused_unassigned" if self.paused else problem
        elif self.paused:
            problem, text = "paused_unassigned", f"{text} while the group is paused"
            remedy = f"fairlead group resume {self.found.name}"
        return [
            Finding(problem, "/".join(map(str, queue)), text, remedy)
            for queue in self.signs.unassigned
        ]

    @property
    def _nobody(self) -> str:
        alarms = () if self.found.newest is None else self.found.newest.alarms
        return next((words for alarm, words in _NOBODY.items() if alarm in alarms), "")

    def unrouted(self) -> list[Finding]:
        """Return the topics without a route."""
        remedy = (
            "check that a bridge runs and watches this topic, and that fairlead_full_shards is 0: "
            "a full shard adds no topic"
        )
        return [
            Finding("unassigned", topic, self.found.absent[topic], _MAKE_IT)
            if topic in self.found.absent
            else Finding("unassigned", topic, "its route is unknown", remedy)
            for topic in self.signs.unrouted
            if topic not in self.found.untold
        ]

    def untold(self) -> list[Finding]:
        """Return the topics that have more queues than their routes say."""
        return [
            Finding("unassigned", topic, words, UNTOLD_REMEDY)
            for topic, words in sorted(self.found.untold.items())
        ]


def standing_findings(found: GroupStanding) -> tuple[Finding, ...]:
    """Return everything that is wrong, in a fixed order; what concerns the whole group is first."""
    seen = problem_inputs(found.live.observed, found.engine, found.lag or 0)
    signs = replace(seen, unrouted=(*seen.unrouted, *sorted(found.untold)))
    look = _Look(found, signs)
    return tuple(each for problem in problems_of(signs) for each in _SAID[problem](look, problem))


def _engine(look: _Look, problem: str) -> Iterator[Finding]:
    yield Finding(
        problem,
        "engine",
        f"{look.found.engine.words()}: owners keep working, but nothing is decided",
        "start an engine (fairlead run), or read the log of the one that should run",
    )


def _offline(look: _Look, problem: str) -> Iterator[Finding]:
    text = f"it has no members, and {look.found.lag:,} messages wait"
    yield Finding(problem, "group", text, "start its clients")


def _phase(look: _Look, problem: str) -> Iterator[Finding]:
    lasted_ms = look.signs.phase_ms
    how_long = "" if lasted_ms is None else f" for {duration_words(lasted_ms)}"
    yield Finding(problem, look.found.name, f"{PHASES[problem]}{how_long}", _PHASES[problem])


def _overlap(look: _Look, problem: str) -> Iterator[Finding]:
    for queue, members in look.signs.overlaps.items():
        owners = ", ".join(member.client_id for member in members)
        yield Finding(problem, _named([queue]), f"held by {owners} at once")


def _disagreement(look: _Look, problem: str) -> Iterator[Finding]:
    odd = look.found.live.observed.assignments.odd
    for trait, values in look.signs.disagreements.items():
        subject = f"{trait.name} of {trait.topic}" if trait.topic else trait.name
        said = []
        for value, members in values.items():
            names = [
                f"{each.client_id} (told)" if each in odd else each.client_id for each in members
            ]
            said.append(f"{worded(value)}: {', '.join(names)}")
        yield Finding(problem, subject, "; ".join(said))


def _duplicate(look: _Look, problem: str) -> Iterator[Finding]:
    for client_id, number in look.signs.duplicates.items():
        text = f"{number} processes use it: the newest counts, the others are told to stop"
        yield Finding(problem, client_id, text)


def _unassigned(look: _Look, problem: str) -> Iterator[Finding]:
    del problem
    yield from look.unrouted()
    yield from look.untold()
    if not look.paused:
        yield from look.unassigned()


def _paused_unassigned(look: _Look, problem: str) -> Iterator[Finding]:
    del problem
    yield from look.unassigned()


def _unsafe(look: _Look, problem: str) -> Iterator[Finding]:
    for each in look.found.queues:
        if each.unsafe:
            owners = ", ".join(_ids((*each.held, *each.gated)))
            text = f"{owners} was granted it without waiting for {', '.join(_ids(each.draining))}"
            remedy = (
                "expect some messages twice until it is released; mode cooperative with on_mute "
                "wait avoids this"
            )
            yield Finding(problem, "/".join(map(str, each.queue)), text, remedy)


def _stalled(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield each holder that takes too long to give queues up, and who waits for them."""
    found = look.found
    members = {each.key: each for each in found.members}
    standings = {each.queue: each for each in found.queues}
    for drain in look.signs.drains:
        if drain.problem(look.signs.rules) != problem:
            continue
        asked_ms = drain.asked_ms
        when = (
            "before the first decision that was read"
            if asked_ms is None
            else f"{duration_words(asked_ms)} ago"
        )
        waiting = _waiting(standings[queue] for queue in drain.queues)
        text = (
            f"it was told {when} to give up {_named(drain.queues)} and has not; {waiting}. "
            f"{_heard(found, members.get(drain.member))}"
        )
        yield Finding(problem, drain.member.client_id, text, _what_helps(found, lives=drain.lives))


def _what_helps(found: GroupStanding, *, lives: bool) -> str:
    if found.engine.silent:
        return "start an engine first: without one nobody reads releases or takes queues over"
    if not lives:
        return "wait: the engine takes its queues lease and margin after its last heartbeat"
    return (
        "find the message or callback that takes so long in its log; restart it, or take its "
        f"queues: fairlead group set {found.name} --on-mute force (they may have two owners)"
    )


def _waiting(queues: Iterable[QueueStanding]) -> str:
    names = sorted({name for each in queues for name in _ids(each.gated)})
    if not names:
        return "nobody waits for it"
    return f"{', '.join(names)} {'wait' if len(names) > 1 else 'waits'}"


def _heard(found: GroupStanding, member: MemberStanding | None) -> str:
    if member is None or member.heard_ms is None:
        return "It sends no heartbeats"
    return f"Its last heartbeat came {duration_words(max(found.now_ms - member.heard_ms, 0))} ago"


def _not_followed(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the members that do not follow what they were told."""
    observed = look.found.live.observed
    for deaf in look.signs.deaf:
        if deaf.is_problem(look.signs.rules):
            told, applied = (
                observed.assignments.sets[deaf.member],
                observed.members.heard[deaf.member].applied,
            )
            read = "nothing yet" if applied is None else ".".join(map(str, applied))
            yield Finding(
                problem,
                deaf.member.client_id,
                f"it heartbeats, but has read {read}; {'.'.join(map(str, told.epoch))} was told "
                f"{duration_words(deaf.told_ms)} ago",
                "check that it may read the assignments topic, and restart it",
            )


def _silent_member(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the silent members whose queues nobody takes although an engine ticks."""
    sets = look.found.live.assigned
    for silence in look.signs.silences:
        if silence.is_problem(look.signs.rules):
            silent_ms = silence.silent_ms
            how_long = (
                "longer than heartbeats were read"
                if silent_ms is None
                else duration_words(silent_ms)
            )
            owned = counted(len(sets[silence.member].entries), "queue")
            yield Finding(
                problem,
                silence.member.client_id,
                f"it has sent no heartbeat for {how_long}, and still has {owned}",
                "find out why the engine ticks but does not take them (`fairlead doctor`, its log)",
            )


def _unanswered(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the members that heartbeat and get no answer although an engine ticks."""
    for waits in look.signs.unanswered:
        if waits.is_problem(look.signs.rules):
            yield Finding(
                problem,
                waits.member.client_id,
                f"it has heartbeat for {duration_words(waits.waited_ms)} and was told nothing, "
                "though an engine ticks",
                "check whether the engine is starting or its batches stand still (`fairlead "
                "doctor`, its /readyz and log), or rejects the member (`fairlead rejects tail`)",
            )


def _restarting(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the clients that start again and again, and where they run."""
    beats = look.found.live.observed.members.heard.items()
    since_ms = look.found.now_ms - RESTARTS_OVER_MS
    for client_id, processes in look.signs.restarting.items():
        places = {
            heard.member.profile.address
            for key, heard in beats
            if key.client_id == client_id
            and heard.heard_ms >= since_ms
            and heard.member.profile.address
        }
        places_words = f", at {', '.join(sorted(places))}" if places else ""
        yield Finding(
            problem,
            client_id,
            f"it had {processes} processes in the last {duration_words(RESTARTS_OVER_MS)}"
            f"{places_words}: it fails at its start, or several processes share its client id and "
            "stop each other",
            "read its log; give each process its own client id",
        )


def _failed(look: _Look, problem: str) -> Iterator[Finding]:
    newest = look.found.newest
    for topic, failure in ({} if newest is None else newest.failures).items():
        text = f"the strategy cannot allocate it, so it keeps its owners: {failure.message}"
        yield Finding(problem, topic, text, _FAILED)


def _step_failed(look: _Look, problem: str) -> Iterator[Finding]:
    text = "the engine failed on a record of this group"
    yield Finding(problem, look.found.name, text, _PHASES["quarantined"])


def _ids(holders: Iterable[GrantHolder]) -> list[str]:
    return [each.member.client_id for each in holders]


def _named(queues: Iterable[MessageQueue]) -> str:
    return listed(["/".join(map(str, queue)) for queue in queues])


_SAID: Final[Mapping[str, Callable[[_Look, str], Iterator[Finding]]]] = {
    "engine_silent": _engine,
    "offline": _offline,
    **dict.fromkeys(_PHASES, _phase),
    "overlap": _overlap,
    "unassigned": _unassigned,
    "paused_unassigned": _paused_unassigned,
    "disagreement": _disagreement,
    "duplicate_client_id": _duplicate,
    "restarting": _restarting,
    "unsafe": _unsafe,
    "stalled_handover": _stalled,
    "mute_member": _stalled,
    "silent_member": _silent_member,
    "unanswered": _unanswered,
    "not_followed": _not_followed,
    "allocation_failed": _failed,
    "step_failed": _step_failed,
}
"""Problem -> the function that words it."""
