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
from fairlead.observed.phase_words import ALARMS, PHASES
from fairlead.observed.problem_inputs import problem_inputs
from fairlead.observed.problems import PendingDrain, ProblemInputs, problems_of
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
    "barrier": "find the member that has not acknowledged and restart it",
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
class _CheckedGroup:
    """A group, and the inputs of its problems."""

    standing: GroupStanding
    inputs: ProblemInputs

    @property
    def paused(self) -> bool:
        """Whether the group is paused."""
        return self.inputs.rules.pause

    def unassigned(self) -> list[Finding]:
        """Return the queues that nobody holds and nobody gets."""
        problem, text, remedy = "unassigned", "no member holds or gets it", self._nobody
        release = self.standing.release
        if release is not None:
            # Whether or not the group is paused or somebody is drained.
            text = f"no Fairlead client gets it: {release.words()}"
            remedy = release.way_back(self.standing.name)
            problem = "paused_unassigned" if self.paused else problem
        elif self.paused:
            problem, text = "paused_unassigned", f"{text} while the group is paused"
            remedy = f"fairlead group resume {self.standing.name}"
        return [
            self._kept(problem, queue) or Finding(problem, "/".join(map(str, queue)), text, remedy)
            for queue in self.inputs.unassigned
        ]

    def _kept(self, problem: str, queue: MessageQueue) -> Finding | None:
        """Return that a queue waits for a client that is gone; None: it does not."""
        standing = self.standing
        client_id = None if self.paused or standing.release else standing.kept_for(queue)
        if client_id is None:
            return None
        left = duration_words(standing.grace_left_ms(client_id))
        return Finding(
            problem,
            "/".join(map(str, queue)),
            f"it is kept for {client_id}, which is gone, for another {left} (restart_grace_ms)",
            f"start {client_id} again; to share its queues now: fairlead group set "
            f"{standing.name} --restart-grace-ms 0",
        )

    @property
    def _nobody(self) -> str:
        alarms = () if self.standing.newest is None else self.standing.newest.alarms
        return next((words for alarm, words in _NOBODY.items() if alarm in alarms), "")

    def unrouted(self) -> list[Finding]:
        """Return the topics without a route."""
        remedy = (
            "check that a bridge runs and watches this topic, and that fairlead_full_shards is 0: "
            "a full shard adds no topic"
        )
        return [
            Finding("unassigned", topic, self.standing.absent[topic], _MAKE_IT)
            if topic in self.standing.absent
            else Finding("unassigned", topic, "its route is unknown", remedy)
            for topic in self.inputs.unrouted
            if topic not in self.standing.untold
        ]

    def untold(self) -> list[Finding]:
        """Return the topics that have more queues than their routes say."""
        return [
            Finding("unassigned", topic, words, UNTOLD_REMEDY)
            for topic, words in sorted(self.standing.untold.items())
        ]


def standing_findings(standing: GroupStanding) -> tuple[Finding, ...]:
    """Return everything that is wrong, in a fixed order; what concerns the whole group is first."""
    seen = problem_inputs(standing.live.observed, standing.engine, standing.lag or 0)
    inputs = replace(seen, unrouted=(*seen.unrouted, *sorted(standing.untold)))
    checked = _CheckedGroup(standing, inputs)
    return tuple(
        each for problem in problems_of(inputs) for each in _WORDING[problem](checked, problem)
    )


def _engine(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    yield Finding(
        problem,
        None,
        f"{checked.standing.engine.words()}: owners keep working, but nothing is decided",
        "start an engine (fairlead run), or read the log of the one that should run",
    )


def _offline(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    text = f"it has no members, and {checked.standing.lag:,} messages wait"
    yield Finding(problem, None, text, "start its clients")


def _phase(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    lasted_ms = checked.inputs.phase_ms
    how_long = "" if lasted_ms is None else f" for {duration_words(lasted_ms)}"
    name, remedy = checked.standing.name, _PHASES[problem]
    if problem == "barrier" and checked.inputs.rules.on_mute != "force":
        remedy += f", or pass it by: fairlead group set {name} --on-mute force"
    yield Finding(problem, None, f"{PHASES[problem]}{how_long}", remedy)


def _overlap(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    for queue, members in checked.inputs.overlaps.items():
        owners = ", ".join(member.client_id for member in members)
        yield Finding(problem, _named([queue]), f"held by {owners} at once")


def _disagreement(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    odd = checked.standing.live.observed.assignments.odd
    for trait, values in checked.inputs.disagreements.items():
        camps = []
        for value, members in values.items():
            names = [
                f"{each.client_id} (told)" if each in odd else each.client_id for each in members
            ]
            camps.append(f"{worded(value)}: {', '.join(names)}")
        yield Finding(problem, trait.topic or None, f"{trait.name}: {'; '.join(camps)}")


def _duplicate(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    for client_id, number in checked.inputs.duplicates.items():
        text = f"{number} processes use it: the newest counts, the others have to stop"
        yield Finding(problem, client_id, text)


def _unassigned(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    del problem
    yield from checked.unrouted()
    yield from checked.untold()
    if not checked.paused:
        yield from checked.unassigned()


def _paused_unassigned(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    del problem
    yield from checked.unassigned()


def _unsafe(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    for each in checked.standing.queues:
        if each.shared_unsafely:
            owners = ", ".join(_ids((*each.held, *each.gated)))
            text = f"{owners} was granted it without waiting for {', '.join(_ids(each.draining))}"
            remedy = (
                "expect some messages twice until it is released; mode cooperative with on_mute "
                "wait avoids this"
            )
            yield Finding(problem, "/".join(map(str, each.queue)), text, remedy)


def _stalled(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    """Yield each holder that takes too long to give queues up, and who waits for them."""
    standing = checked.standing
    members = {each.key: each for each in standing.members}
    standings = {each.queue: each for each in standing.queues}
    for drain in checked.inputs.drains:
        if drain.problem(checked.inputs.rules) != problem:
            continue
        asked_ms = drain.asked_ms
        when = (
            "before the first decision that was read"
            if asked_ms is None
            else f"{duration_words(asked_ms)} ago"
        )
        waiting = _waiting(standings[queue] for queue in drain.queues)
        text = (
            f"the engine told it {when} to give up {_named(drain.queues)}, and it has not; "
            f"{waiting}. {_heard(standing, members.get(drain.member))}"
        )
        yield Finding(problem, drain.member.client_id, text, _what_helps(checked, drain, problem))


def _what_helps(checked: _CheckedGroup, drain: PendingDrain, problem: str) -> str:
    """Return what helps with a holder that takes too long; no rule that is in force already."""
    standing, rules = checked.standing, checked.inputs.rules
    if standing.engine.silent:
        return "start an engine first: without one nobody reads releases or takes queues over"
    if not drain.lives:
        return "wait: the engine takes its queues lease and margin after its last heartbeat"
    restart = "find the message or callback that takes so long in its log, and restart it"
    if any(each.key == drain.member and each.ordered for each in standing.members):
        return f"{restart}: no rule takes queues from a client that wants its messages in order"
    if rules.drain_deadline_ms is None:
        return f"{restart}: with drain_deadline_ms never, no rule takes its queues"
    if rules.on_mute != "force":
        take = f"fairlead group set {standing.name} --on-mute force (they may have two owners)"
        return f"{restart}, or take its queues: {take}"
    if problem == "mute_member":
        return f"{restart}: its queues go on without it, and messages are read twice until it ends"
    return f"wait: on_mute force takes its queues a lease after the drain deadline; or {restart}"


def _waiting(queues: Iterable[QueueStanding]) -> str:
    names = sorted({name for each in queues for name in _ids(each.gated)})
    if not names:
        return "nobody waits for it"
    return f"{', '.join(names)} {'wait' if len(names) > 1 else 'waits'}"


def _heard(standing: GroupStanding, member: MemberStanding | None) -> str:
    if member is None or member.heard_ms is None:
        return "It sends no heartbeats"
    return (
        f"Its last heartbeat came {duration_words(max(standing.now_ms - member.heard_ms, 0))} ago"
    )


def _not_followed(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    """Yield the members that do not follow their assignments."""
    observed = checked.standing.live.observed
    for behind in checked.inputs.behind:
        if behind.is_problem(checked.inputs.rules):
            assigned, applied = (
                observed.assignments.sets[behind.member],
                observed.members.heard[behind.member].applied,
            )
            read = "nothing yet" if applied is None else ".".join(map(str, applied))
            yield Finding(
                problem,
                behind.member.client_id,
                f"it heartbeats, but has read {read}; the engine wrote "
                f"{'.'.join(map(str, assigned.epoch))} {duration_words(behind.told_ms)} ago",
                "check that it may read the assignments topic, and restart it",
            )


def _silent_member(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    """Yield the silent members whose queues nobody takes although an engine ticks."""
    sets = checked.standing.live.assigned
    for member in checked.inputs.silent:
        if member.is_problem(checked.inputs.rules):
            silent_ms = member.silent_ms
            how_long = (
                "longer than heartbeats were read"
                if silent_ms is None
                else duration_words(silent_ms)
            )
            owned = counted(len(sets[member.member].entries), "queue")
            yield Finding(
                problem,
                member.member.client_id,
                f"it has sent no heartbeat for {how_long}, and still has {owned}",
                "find out why the engine ticks but does not take them (`fairlead doctor`, its log)",
            )


def _unanswered(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    """Yield the members that heartbeat and get no answer although an engine ticks."""
    for waits in checked.inputs.unanswered:
        if waits.is_problem(checked.inputs.rules):
            yield Finding(
                problem,
                waits.member.client_id,
                f"it has heartbeat for {duration_words(waits.waited_ms)} and has no assignment, "
                "though an engine ticks",
                "check whether the engine is starting or its batches stand still (`fairlead "
                "doctor`, its /readyz and log), or rejects the member (`fairlead rejects tail`)",
            )


def _restarting(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    """Yield the clients that start again and again, and where they run."""
    beats = checked.standing.live.observed.members.heard.items()
    since_ms = checked.standing.now_ms - RESTARTS_OVER_MS
    for client_id, processes in checked.inputs.restarting.items():
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


def _failed(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    newest = checked.standing.newest
    for topic, failure in ({} if newest is None else newest.failures).items():
        text = f"the strategy cannot allocate it, so it keeps its owners: {failure.message}"
        yield Finding(problem, topic, text, _FAILED)


def _step_failed(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    del checked
    text = "the engine failed on a record of this group"
    yield Finding(problem, None, text, _PHASES["quarantined"])


def _foreign_member(checked: _CheckedGroup, problem: str) -> Iterator[Finding]:
    """Name who is there by the newest decision that tells it, if that was read."""
    name, text = checked.standing.name, ALARMS[problem]
    for each in reversed(checked.standing.live.observed.decided.history):
        if problem in each.triggers and not each.superseded:
            told = [
                str(one.get("because")) for one in each.body()["cause"] if one["kind"] == problem
            ]
            text = f"{listed(told)}: a queue may have two owners"
            break
    remedy = (
        "attach that process to Fairlead or stop it; `fairlead observe rocketmq` shows its queues; "
        f"to let RocketMQ share the queues out again: fairlead group set {name} --take-over never"
    )
    yield Finding(problem, None, text, remedy)


def _ids(holders: Iterable[GrantHolder]) -> list[str]:
    return [each.member.client_id for each in holders]


def _named(queues: Iterable[MessageQueue]) -> str:
    return listed(["/".join(map(str, queue)) for queue in queues])


_WORDING: Final[Mapping[str, Callable[[_CheckedGroup, str], Iterator[Finding]]]] = {
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
    "foreign_member": _foreign_member,
}
"""Problem -> the function that words it."""
