"""Recent counts of a shard's input: quotas must not depend on the cut of batches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = [
    "GroupIntake",
    "Intake",
    "ReleaseIntake",
    "plain_intake",
    "plain_releases",
    "read_intake",
    "read_releases",
]


class GroupIntake(NamedTuple):
    """What one group wrote in one second of the shard's clock.

    ``records`` is their number, ``own`` how many of its members' records above the quota counted,
    ``told`` whether a refused one got a dead letter.
    """

    records: int = 0
    own: int = 0
    told: bool = False


@dataclass(frozen=True, slots=True)
class Intake:
    """The input of the newest second of the shard's clock, and the pace of new groups.

    ``letters`` counts dead letters for refused groups in this second. ``level`` is a bucket's, at
    the clock ``level_ms``: each new group adds 1,000, and it falls with time. ``large`` is the
    bucket for the bytes of large heartbeats, in thousandths.
    """

    second: int = 0
    groups: Mapping[str, GroupIntake] = field(default_factory=dict)
    letters: int = 0
    level: int = 0
    level_ms: int = 0
    large: int = 0
    large_ms: int = 0


@dataclass(frozen=True, slots=True)
class ReleaseIntake:
    """How many releases each group wrote in the newest second of their append time.

    ``told``: the groups with a refused release that got a dead letter.
    """

    second: int = 0
    groups: Mapping[str, int] = field(default_factory=dict)
    told: frozenset[str] = frozenset()


def plain_releases(intake: ReleaseIntake) -> list[Any]:
    """Return the intake of releases as plain JSON values."""
    told = intake.told
    groups = [[group, number, group in told] for group, number in sorted(intake.groups.items())]
    return [intake.second, groups]


def read_releases(plain: list[Any]) -> ReleaseIntake:
    """Return the intake that :func:`plain_releases` wrote."""
    second, groups = plain
    told = frozenset(group for group, _, is_told in groups if is_told)
    return ReleaseIntake(second, {group: number for group, number, _ in groups}, told)


def plain_intake(intake: Intake) -> list[Any]:
    """Return an intake as plain JSON values."""
    groups = [[group, *intake.groups[group]] for group in sorted(intake.groups)]
    made = [intake.letters, intake.level, intake.level_ms]
    return [intake.second, groups, *made, intake.large, intake.large_ms]


def read_intake(plain: list[Any]) -> Intake:
    """Return the intake that :func:`plain_intake` wrote."""
    second, groups, *levels = plain
    of_groups = {group: GroupIntake(records, own, told) for group, records, own, told in groups}
    return Intake(second, of_groups, *levels)
