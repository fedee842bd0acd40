"""What is wrong with a live group, as far as its topics tell.

Decides nothing about what to do. Owners are those of the newest assignment records and members
those who heartbeat. Which value a group keeps, where members disagree, stands in the engine's state
alone: here is who has which, and who was told that it is odd.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fairlead.core.member_disagreement import compared, traits_of, worded
from fairlead.core.membership import effective_members
from fairlead.core.model import MessageQueue, Process
from fairlead.core.ordering import java_order, queue_order
from fairlead.core.state import Trait, TraitValue
from fairlead.observed.live_group import LiveGroup

__all__ = ["REMEDIES", "Finding", "findings_of"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    ``problem`` is a word of `REMEDIES`; ``subject`` the queue, topic, trait or client that it is
    of; ``text`` says more; ``remedy`` what to do about this one, else what its problem needs.
    """

    problem: str
    subject: str
    text: str
    remedy: str = ""

    def document(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        remedy = self.remedy or REMEDIES.get(self.problem)
        return {
            "problem": self.problem,
            "for": self.subject,
            "says": self.text,
            "do": remedy,
        }


REMEDIES: Final[Mapping[str, str]] = {
    "overlap": "look for mode eager, on_mute force, or two engines on one cluster",
    "unassigned": "look at `group describe --state`: alarms and rules say why",
    "disagreement": "give all members of the group the same; the oldest member's value counts",
    "duplicate_client_id": "give each process a client id of its own",
}
"""What to do where a finding does not say it better."""


def findings_of(live: LiveGroup) -> tuple[Finding, ...]:
    """Return everything that is wrong, in a fixed order."""
    return (*_overlaps(live), *_disagreements(live), *_duplicates(live))


def _overlaps(live: LiveGroup) -> Iterator[Finding]:
    """Yield the queues that more than one living member was told to hold."""
    holders: dict[MessageQueue, list[str]] = {}
    for member, told in sorted(live.told.items()):
        if member in live.core.state.members:
            for entry in told.entries:
                if entry.state == "held":
                    holders.setdefault(entry.queue, []).append(member.client_id)
    for queue in sorted(holders, key=queue_order):
        if len(holders[queue]) > 1:
            yield Finding("overlap", _named(queue), f"held by {', '.join(holders[queue])}")


def _disagreements(live: LiveGroup) -> Iterator[Finding]:
    values: dict[Trait, dict[TraitValue, list[str]]] = {}
    members = effective_members(live.core.state.members)
    for client_id in sorted(members, key=java_order):
        member = members[client_id]
        name = f"{client_id} (told)" if member.key in live.observed.told.odd else client_id
        for trait, value in traits_of(member).items():
            # As the engine compares: a start by time is one value, whatever the time.
            values.setdefault(trait, {}).setdefault(compared(trait, value), []).append(name)
    for trait, held in sorted(values.items()):
        if len(held) > 1:
            subject = f"{trait.name} of {trait.topic}" if trait.topic else trait.name
            yield Finding("disagreement", subject, "; ".join(_who_has(held.items())))


def _who_has(held: Iterable[tuple[TraitValue, list[str]]]) -> Iterator[str]:
    for value, names in held:
        yield f"{worded(value)}: {', '.join(names)}"


def _duplicates(live: LiveGroup) -> Iterator[Finding]:
    processes: dict[str, set[Process]] = {}
    for key, member in live.core.state.members.items():
        if not member.leaving:
            processes.setdefault(key.client_id, set()).add(member.process)
    for client_id in sorted(processes, key=java_order):
        number = len(processes[client_id])
        if number > 1:
            text = f"{number} processes use it: the newest counts, and the others are told to stop"
            yield Finding("duplicate_client_id", client_id, text)


def _named(queue: MessageQueue) -> str:
    return "/".join(map(str, queue))
