"""All groups at one moment, for whoever tells of them while the view goes on."""

from collections.abc import Mapping
from dataclasses import dataclass

from fairlead.observed.counters import GroupCounters
from fairlead.observed.group_metrics import GroupFigures
from fairlead.observed.group_standing import GroupStanding

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All groups at one moment; nothing of it changes any more.

    Attributes:
        figures: each group in numbers, by name.
        happened: what has happened to them since they were followed.
        in_detail: groups whose queues are told one by one.
        passed_over: how many rows were no record of the protocol.
        failed: how often a group could not be looked through.
    """

    figures: tuple[GroupFigures, ...]
    counters: GroupCounters
    in_detail: Mapping[str, GroupStanding]
    passed_over: int
    failed: int
