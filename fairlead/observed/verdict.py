"""The result of a group's check: one word, how the group stands, and what is wrong with it.

Decides what a check says beside its findings: what is unusual and no fault, alarms that stand for
no problem, and that no engine runs where nobody is there to miss it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from fairlead.core.membership.members import sharing_members
from fairlead.core.ordering import java_order
from fairlead.core.topics.retry_topic import is_awaited
from fairlead.counts import listed
from fairlead.observed.finding import Finding
from fairlead.observed.findings import standing_findings
from fairlead.observed.group_notes import check_notes
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.phase_words import ALARMS
from fairlead.observed.problems import other_alarms

__all__ = ["GroupVerdict", "VerdictWord", "check_group", "unreadable_group", "worst_verdict"]

VerdictWord = Literal["safe", "nobody", "problems", "unreadable"]
"""``safe``: nothing is wrong; ``nobody``: nothing is wrong, and the group has no members."""

_STATE: Final = (
    *("as_of_ms", "phase", "phase_since_ms", "members", "members_idle", "queues"),
    *("queues_unassigned", "lag_messages", "lag_ms", "epoch", "engine", "released"),
)
_ORDER: Final[tuple[VerdictWord, ...]] = ("unreadable", "problems", "nobody", "safe")


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """The result of a check.

    Attributes:
        group: its name.
        findings: what is wrong, in a fixed order.
        notes: what is unusual and no fault, one sentence each.
        standing: how it stands; None: nobody can make sense of its records.
    """

    group: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    standing: GroupStanding | None = None

    @property
    def word(self) -> VerdictWord:
        """The verdict in one word."""
        if self.standing is None:
            return "unreadable"
        if self.findings:
            return "problems"
        return "safe" if self.standing.sharing else "nobody"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; the state of an unreadable group is null."""
        state = {} if self.standing is None else self.standing.summary.to_json()
        return {
            "group": self.group,
            "verdict": self.word,
            **{name: state.get(name) for name in _STATE},
            "problem_list": [each.to_json() for each in self.findings],
            "notes": [*self.notes],
        }


def check_group(standing: GroupStanding) -> GroupVerdict:
    """Return the verdict on a group."""
    findings = standing_findings(standing)
    alarms = () if standing.newest is None else other_alarms(standing.newest.alarms)
    alarmed = (f"alarm {each}: {ALARMS.get(each, 'of a newer engine')}" for each in alarms)
    engine: tuple[str, ...] = ()
    if standing.engine.silent and all(each.problem != "engine_silent" for each in findings):
        engine = (standing.engine.words(),)
    released = () if standing.release is None else (standing.release.words(),)
    live = standing.live
    unanswered = {each.subject or "" for each in findings if each.problem == "unanswered"}
    notes = (*released, *engine, *alarmed, *check_notes(live, unanswered), *_topics(live))
    return GroupVerdict(standing.name, findings, notes, standing)


def _topics(live: LiveGroup) -> Iterator[str]:
    """Yield a note on members that subscribe to different topics, and what each of them lacks."""
    members, rules = sharing_members(live.core.state), live.core.rules
    state = live.planned.state
    topics = sorted(
        {
            topic
            for member in members.values()
            for topic in member.topics
            # A retry topic that does not exist yet says nothing.
            if topic in state.routes or is_awaited(state.group, topic, rules.retry_topics)
        }
    )
    lacking = {
        topic: [who for who in sorted(members, key=java_order) if topic not in members[who].topics]
        for topic in topics
    }
    parts = [f"{topic}: not {listed(names)}" for topic, names in lacking.items() if names]
    if parts:
        yield (
            "members subscribe to different topics; each is shared by those that subscribe to it "
            f"({listed(parts, '; ')})"
        )


def unreadable_group(group: str, text: str, remedy: str) -> GroupVerdict:
    """Return the verdict on a group whose records nobody can make sense of."""
    return GroupVerdict(group, (Finding("unreadable", None, text, remedy),))


def worst_verdict(verdicts: Iterable[GroupVerdict]) -> VerdictWord:
    """Return the word for several groups; without any: ``nobody``."""
    words = {each.word for each in verdicts}
    if words == {"nobody", "safe"}:
        return "safe"
    return next((word for word in _ORDER if word in words), "nobody")
