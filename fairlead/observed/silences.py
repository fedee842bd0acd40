"""When clients that were taken for dead had last been heard."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.bounds import MANY
from fairlead.observed.group_decisions import AppliedDecision
from fairlead.observed.members import Members

__all__ = ["Silences", "lapsed_clients", "silent_since"]


@dataclass(slots=True)
class Silences:
    """The last heartbeats of clients that lapsed by the newest decisions.

    ``kept_max``: how many of these decisions to keep.
    """

    kept_max: int = MANY.decisions
    _of: dict[int, dict[str, int]] = field(default_factory=dict)

    def take_decision(self, applied: AppliedDecision, members: Members, rules: GroupRules) -> None:
        """Note when the clients had last been heard that lapsed by a decision."""
        lapsed = lapsed_clients(applied.causes())
        heard = silent_since(members, rules, lapsed, applied.decision.append_ms)
        if heard:
            self._of[applied.decision.place.offset] = heard
            if len(self._of) > self.kept_max:
                del self._of[next(iter(self._of))]

    def of(self, decision: int) -> Mapping[str, int]:
        """Return client -> append time of its last heartbeat, for the decision at this offset.

        Clients that nobody had heard are left out.
        """
        return self._of.get(decision, {})


def lapsed_clients(causes: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the clients that some causes call dead."""
    return {str(each.get("client_id")) for each in causes if each["kind"] == "client_expired"}


def silent_since(
    members: Members, rules: GroupRules, client_ids: Iterable[str], taken_ms: int
) -> dict[str, int]:
    """Return when clients that were taken for dead had last been heard; without unknown ones.

    If a client id heartbeats again in another incarnation, the one that fell silent counts.

    Args:
        members: the members that were heard.
        rules: those of their group.
        client_ids: the clients.
        taken_ms: when the decision was appended that took them for dead.
    """
    times: dict[str, tuple[bool, int]] = {}
    for key, heard in members.heard.items():
        if key.client_id not in client_ids or heard.heard_ms >= taken_ms:
            continue
        lease_ms = max(rules.lease_ms, heard.member.profile.lease_ms)
        fell_silent = taken_ms - heard.heard_ms > lease_ms
        known = times.get(key.client_id, (False, 0))
        times[key.client_id] = max(known, (fell_silent, heard.heard_ms))
    return {client_id: heard_ms for client_id, (_, heard_ms) in times.items()}
