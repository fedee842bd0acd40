"""What a check of a group comes to: one word, how the group stands, and what is wrong with it.

Decides what is told beside findings: what is unusual and no fault, alarms that stand for no
problem, and that no engine runs where nobody is there to miss it.
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
from fairlead.observed.group_notes import notes_on
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.phase_words import ALARMS
from fairlead.observed.problems import other_alarms

__all__ = ["Verdict", "Word", "checked", "unreadable", "worst"]

Word = Literal["safe", "nobody", "problems", "unreadable"]
"""Nothing is wrong and somebody is in it; nothing is wrong and nobody is; something is."""

_STATE: Final = (
    *("as_of_ms", "phase", "phase_since_ms", "members", "members_idle", "queues"),
    *("queues_unassigned", "lag_messages", "lag_ms", "epoch", "engine", "released"),
)
_ORDER: Final[tuple[Word, ...]] = ("unreadable", "problems", "nobody", "safe")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes:
        group: its name.
        findings: what is wrong, in a fixed order.
        notes: what is unusual and no fault, a sentence each.
        standing: how it stands; None: its records cannot be made sense of.
    """

    group: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    standing: GroupStanding | None = None

    @property
    def word(self) -> Word:
        """The verdict."""
        if self.standing is None:
            return "unreadable"
        if self.findings:
            return "problems"
        return "safe" if self.standing.sharing else "nobody"

    def document(self) -> dict[str, Any]:
        """Return it as JSON values; of what cannot be read the state is null."""
        said = {} if self.standing is None else self.standing.summary.document()
        return {
            "group": self.group,
            "verdict": self.word,
            **{name: said.get(name) for name in _STATE},
            "problem_list": [each.document() for each in self.findings],
            "notes": [*self.notes],
        }


def checked(standing: GroupStanding) -> Verdict:
    """Return the verdict on a group."""
    findings = standing_findings(standing)
    alarms = () if standing.newest is None else other_alarms(standing.newest.alarms)
    alarmed = (f"alarm {each}: {ALARMS.get(each, 'of a newer engine')}" for each in alarms)
    engine: tuple[str, ...] = ()
    if standing.engine.silent and all(each.problem != "engine_silent" for each in findings):
        engine = (standing.engine.words(),)
    released = () if standing.release is None else (standing.release.words(),)
    live = standing.live
    unanswered = {each.subject for each in findings if each.problem == "unanswered"}
    notes = (*released, *engine, *alarmed, *notes_on(live, unanswered), *_topics(live))
    return Verdict(standing.name, findings, notes, standing)


def _topics(live: LiveGroup) -> Iterator[str]:
    """Yield that members subscribe to different topics, which may be meant, and what each lacks."""
    members, rules = sharing_members(live.core.state), live.core.rules
    state = live.picture.state
    topics = sorted(
        {
            topic
            for member in members.values()
            for topic in member.topics
            # That some would read what has failed tells nothing as long as nothing has.
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
            "members subscribe to different topics, and each is shared among those who do "
            f"({listed(parts, '; ')})"
        )


def unreadable(group: str, text: str, remedy: str) -> Verdict:
    """Return the verdict on a group whose records cannot be made sense of."""
    return Verdict(group, (Finding("unreadable", group, text, remedy),))


def worst(verdicts: Iterable[Verdict]) -> Word:
    """Return the word for many groups; of none: nobody is there."""
    words = {each.word for each in verdicts}
    if words == {"nobody", "safe"}:
        return "safe"
    return next((word for word in _ORDER if word in words), "nobody")
