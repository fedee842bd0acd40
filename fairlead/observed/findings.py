"""What is wrong with a group as it stands, in words, with what to do about it.

What counts as wrong is decided by `fairlead.observed.problems`, for this and for a list of groups;
here it is said of which queue, member or topic.
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
from fairlead.observed.problem_inputs import signs_of
from fairlead.observed.problems import Signs, problems_of
from fairlead.observed.queue_standing import Holder, QueueStanding
from fairlead.observed.restarts import RESTARTS_OVER_MS

__all__ = ["standing_findings"]

_PHASES: Final = {
    "recovering": (
        "wait: it lasts lease and margin, and until every live member has acknowledged; then look "
        "at the engine's log for why its checkpoint was lost"
    ),
    "quarantined": (
        "look at the rejects topic and the engine's log for the record that it fails on; owners "
        "go on meanwhile, and nothing is shared anew"
    ),
    "barrier": "look for the member that has not acknowledged; restart it, or set --on-mute force",
}
_FAILED: Final = "set a strategy or options that can share it: `fairlead plan` shows what would be"
_MAKE_IT: Final = (
    "make the topic, or have the clients subscribe to another; if it is on another cluster, look "
    "whether a bridge runs there"
)
_NOBODY: Final = {
    "drained_empty": "undrain one of the members that subscribe to it",
    "designation_empty": "start a designated member, or unset the rule (--designated)",
}


@dataclass(frozen=True, slots=True)
class _Look:
    """A group, and everything of it that may be wrong."""

    found: GroupStanding
    signs: Signs

    @property
    def paused(self) -> bool:
        """Whether nothing is shared anew."""
        return self.signs.rules.pause

    def unassigned(self) -> list[Finding]:
        """Return the queues that nobody holds and nobody gets."""
        problem, text, remedy = "unassigned", "nobody holds it, and nobody gets it", self._nobody
        release = self.found.release
        if release is not None:
            # Whether or not the group is paused, or who is drained.
            text = f"no client of Fairlead's gets it: {release.words()}"
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
            "look whether a bridge runs and watches this topic, and whether fairlead_full_shards "
            "is 0: a full shard adds no topic"
        )
        return [
            Finding("unassigned", topic, self.found.absent[topic], _MAKE_IT)
            if topic in self.found.absent
            else Finding("unassigned", topic, "its route is not known", remedy)
            for topic in self.signs.unrouted
            if topic not in self.found.untold
        ]

    def untold(self) -> list[Finding]:
        """Return the topics that have more queues than their routes tell."""
        return [
            Finding("unassigned", topic, words, UNTOLD_REMEDY)
            for topic, words in sorted(self.found.untold.items())
        ]


def standing_findings(found: GroupStanding) -> tuple[Finding, ...]:
    """Return everything that is wrong, in a fixed order: what concerns all of it first."""
    seen = signs_of(found.live.observed, found.engine, found.lag or 0)
    signs = replace(seen, unrouted=(*seen.unrouted, *sorted(found.untold)))
    look = _Look(found, signs)
    return tuple(each for problem in problems_of(signs) for each in _SAID[problem](look, problem))


def _engine(look: _Look, problem: str) -> Iterator[Finding]:
    yield Finding(
        problem,
        "engine",
        f"{look.found.engine.words()}: owners go on, nothing is decided",
        "start one (fairlead run), or look at the log of the one that should run",
    )


def _offline(look: _Look, problem: str) -> Iterator[Finding]:
    text = f"nobody is in it, and {look.found.lag:,} messages wait"
    yield Finding(problem, "group", text, "start its clients")


def _phase(look: _Look, problem: str) -> Iterator[Finding]:
    lasted_ms = look.signs.phase_ms
    how_long = "" if lasted_ms is None else f" for {duration_words(lasted_ms)}"
    yield Finding(problem, look.found.name, f"{PHASES[problem]}{how_long}", _PHASES[problem])


def _overlap(look: _Look, problem: str) -> Iterator[Finding]:
    for queue, members in look.signs.overlaps.items():
        owners = ", ".join(member.client_id for member in members)
        yield Finding(problem, _named([queue]), f"held by {owners}")


def _disagreement(look: _Look, problem: str) -> Iterator[Finding]:
    odd = look.found.live.observed.told.odd
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
        text = f"{number} processes use it: the newest counts, and the others are told to stop"
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
                "expect messages twice until it is released; mode cooperative and on_mute wait "
                "never do this"
            )
            yield Finding(problem, "/".join(map(str, each.queue)), text, remedy)


def _stalled(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield each holder that was told to stop and takes too long, with the queues and who waits."""
    found = look.found
    members = {each.key: each for each in found.members}
    standings = {each.queue: each for each in found.queues}
    for drain in look.signs.drains:
        if drain.problem(look.signs.rules) != problem:
            continue
        asked_ms = drain.asked_ms
        how_long = (
            "longer than decisions were read" if asked_ms is None else duration_words(asked_ms)
        )
        waiting = _waiting(standings[queue] for queue in drain.queues)
        text = (
            f"it was told {how_long} ago to give up {_named(drain.queues)} and has not; {waiting}. "
            f"{_heard(found, members.get(drain.member))}"
        )
        yield Finding(problem, drain.member.client_id, text, _what_helps(found, lives=drain.lives))


def _what_helps(found: GroupStanding, *, lives: bool) -> str:
    if found.engine.silent:
        return "start an engine first: none reads releases, or takes queues from who is gone"
    if not lives:
        return "wait: the engine takes its queues lease and margin after its last heartbeat"
    return (
        "look at its log for a message or a callback that takes so long; restart it, or take its "
        f"queues: fairlead group set {found.name} --on-mute force (they may have two owners)"
    )


def _waiting(queues: Iterable[QueueStanding]) -> str:
    names = sorted({name for each in queues for name in _ids(each.gated)})
    if not names:
        return "nobody waits for it"
    return f"{', '.join(names)} {'wait' if len(names) > 1 else 'waits'}"


def _heard(found: GroupStanding, member: MemberStanding | None) -> str:
    if member is None or member.heard_ms is None:
        return "It does not heartbeat"
    return f"It heartbeat {duration_words(max(found.now_ms - member.heard_ms, 0))} ago"


def _not_followed(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the members that do not take in what they were told."""
    observed = look.found.live.observed
    for deaf in look.signs.deaf:
        if deaf.is_problem(look.signs.rules):
            told, applied = (
                observed.told.sets[deaf.member],
                observed.members.heard[deaf.member].applied,
            )
            read = "nothing yet" if applied is None else ".".join(map(str, applied))
            yield Finding(
                problem,
                deaf.member.client_id,
                f"it was told {'.'.join(map(str, told.epoch))} {duration_words(deaf.told_ms)} ago, "
                f"has read {read}, and heartbeats",
                "look whether it may read the assignments topic; restart it",
            )


def _silent_member(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the members that are gone and whose queues nobody takes, though an engine ticks."""
    sets = look.found.live.told
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
                f"it has not heartbeat for {how_long}, and still has {owned}",
                "look at the engine: it ticks, and does not take them (`fairlead doctor`, its log)",
            )


def _unanswered(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the members that heartbeat and that no engine answers, though one ticks."""
    for waits in look.signs.unanswered:
        if waits.is_problem(look.signs.rules):
            yield Finding(
                problem,
                waits.member.client_id,
                f"it has heartbeat for {duration_words(waits.waited_ms)}, and was not told "
                "anything, though an engine ticks",
                "look at the engine: it still starts, or its batches stand still (`fairlead "
                "doctor`, its /readyz and log), or it refuses the member (`fairlead rejects tail`)",
            )


def _restarting(look: _Look, problem: str) -> Iterator[Finding]:
    """Yield the clients that are started again and again, and from where."""
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
            f"{places_words}: it fails as it starts, or several share its client id and end "
            "each other",
            "look at its log; give each process a client id of its own",
        )


def _failed(look: _Look, problem: str) -> Iterator[Finding]:
    newest = look.found.newest
    for topic, failure in ({} if newest is None else newest.failures).items():
        text = f"it cannot be allocated and keeps what it has: {failure.message}"
        yield Finding(problem, topic, text, _FAILED)


def _step_failed(look: _Look, problem: str) -> Iterator[Finding]:
    text = "the engine failed on a record of this group"
    yield Finding(problem, look.found.name, text, _PHASES["quarantined"])


def _ids(holders: Iterable[Holder]) -> list[str]:
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
"""Problem -> what is said of it."""
