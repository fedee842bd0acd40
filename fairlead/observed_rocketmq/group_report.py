"""One group: what was seen, what is wrong, what changes would move."""

from dataclasses import dataclass
from typing import Any

from fairlead.observed.finding import Finding
from fairlead.observed_rocketmq.group_findings import findings_of, notes_of
from fairlead.observed_rocketmq.seen_group import SeenGroup, SeenMember
from fairlead.observed_rocketmq.share_forecast import ShareForecast, forecasts_of

__all__ = ["GroupReport", "report_of"]


@dataclass(frozen=True, slots=True)
class GroupReport:
    """A group that was seen, with its problems, its notes and its forecasts."""

    seen: SeenGroup
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    forecasts: tuple[ShareForecast, ...]

    @property
    def verdict(self) -> str:
        """`problems`, `nobody` (no consumer is connected) or `safe`, as of `group check`."""
        if self.findings:
            return "problems"
        return "safe" if self.seen.members else "nobody"

    def lag_at(self, member: SeenMember) -> int | None:
        """Return how many messages wait for a member; None: it does not say what it works on."""
        return None if member.info is None else self.seen.lag_of(member.info.queues)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        seen, owners = self.seen, self.seen.owners
        return {
            "group": seen.name,
            "verdict": self.verdict,
            "message_model": seen.model.lower() if seen.model else None,
            "shared_by": list(seen.strategies),
            "lag_messages": seen.lag,
            "clients_seen": [each.to_json(self.lag_at(each)) for each in seen.members],
            "queues_seen": [
                {
                    "queue": list(queue),
                    "worked_on_by": list(owners[queue]),
                    "committed_offset": at.committed,
                    "end": at.end,
                    "lag_messages": at.lag,
                }
                for queue, at in seen.queues.items()
            ],
            "problem_list": [each.to_json() for each in self.findings],
            "notes": list(self.notes),
            "forecast_list": [each.to_json() for each in self.forecasts],
        }


def report_of(seen: SeenGroup) -> GroupReport:
    """Return a group with what is wrong with it."""
    return GroupReport(seen, findings_of(seen), notes_of(seen), forecasts_of(seen))
