"""All groups at one moment, for those who report on them while the view goes on."""

from collections.abc import Mapping
from dataclasses import dataclass

from fairlead.observed.counters import GroupCounters
from fairlead.observed.group_metrics import GroupFigures
from fairlead.observed.group_standing import GroupStanding

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All groups at one moment; nothing in it changes any more.

    Attributes:
        figures: each group in numbers, sorted by name.
        counters: what has happened to them since somebody began to follow them.
        in_detail: groups whose queues stand one by one.
        passed_over: how many rows were no record of the protocol.
        failed: how often looking at a group failed.
    """

    figures: tuple[GroupFigures, ...]
    counters: GroupCounters
    in_detail: Mapping[str, GroupStanding]
    passed_over: int
    failed: int
