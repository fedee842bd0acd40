"""The rules of all groups, from the control topic."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.control.rules_in_force import RulesInForce, written_rule
from fairlead.core.allocation import Strategy
from fairlead.core.records import ALL_GROUPS
from fairlead.core.rules.group_rules import GroupRules
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["RulesOfGroups"]


@dataclass(slots=True)
class RulesOfGroups:
    """The rules of each group; groups without rules of their own share those of all groups.

    Attributes:
        strategies: the engine's strategies.
        shards: partitions of the control topic.
    """

    strategies: Mapping[str, Strategy]
    shards: int
    _of_all: dict[int, RulesInForce] = field(default_factory=dict)
    _own: dict[str, RulesInForce] = field(default_factory=dict)
    _in_force: dict[str | int, GroupRules] = field(default_factory=dict)

    def apply_row(self, row: RawRecord) -> str | None:
        """Apply a record of the control topic; return the group whose rule it is, if it is one.

        Raises:
            ValueError: the engine rejects it.
        """
        written = written_rule(row, self.shards)
        if written is None:
            return None
        self._in_force.clear()
        group = written.rule.group
        if group != ALL_GROUPS:
            self._own.setdefault(group, self._base(row.partition).copy()).apply_or_note(written)
            return group
        self._base(row.partition).apply_or_note(written)
        for name, rules in self._own.items():
            if partition_of_group(name, self.shards) == row.partition:
                rules.apply_or_note(written)
        return None

    def _base(self, partition: int) -> RulesInForce:
        base = self._of_all.get(partition)
        if base is None:
            base = self._of_all[partition] = RulesInForce(self.strategies)
        return base

    def of(self, group: str) -> RulesInForce:
        """Return the rules of a group, each with who set it; they are not to be changed."""
        own = self._own.get(group)
        return self._base(partition_of_group(group, self.shards)) if own is None else own

    def has_own(self, group: str) -> bool:
        """Tell whether a group has rules of its own."""
        own = self._own.get(group)
        return own is not None and bool(own.own)

    def in_force(self, group: str) -> GroupRules:
        """Return the rules in force for a group."""
        place: str | int = group
        if group not in self._own:
            place = partition_of_group(group, self.shards)
        rules = self._in_force.get(place)
        if rules is None:
            rules = self._in_force[place] = self.of(group).rules
        return rules
