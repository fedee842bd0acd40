"""The names of all groups, for whoever mistypes one.

A group is there if it has an assignment, a rule, a reset or a position in Fairlead's topics, or
heartbeats. Only keys are read, and only when a name is not known otherwise. Every command refuses
an unknown group with the words of this file, which name no group that was there once.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import orjson

from fairlead.core.records import ALL_GROUPS
from fairlead.errors import UsageError, Way, Words
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.raw import RawRecord
from fairlead.wire.record_keys import group_named

__all__ = [
    "NamedGroups",
    "NoSuchGroupError",
    "named_groups",
    "nearest_names",
    "nearest_words",
    "unknown_group",
]

_COMPACTED: Final = frozenset(("control", "assignments", "offsets"))
"""Topics where the newest record of a key counts."""
_NAMED_MAX: Final = 3
_CHARACTERS_MAX: Final = 2_000_000
"""Letters are counted in this many characters of names; names beyond that are not compared."""
_STEPS_MAX: Final = 40_000_000
"""How many steps comparisons may take: enough for 5,000 names of 20 characters, or 20 of 120."""


class NamedGroups:
    """The groups that are there, by the keys of records in the order of their partitions.

    What decisions and releases name may be gone. A null value takes back what its key named, and so
    does the removal of a rule.
    """

    def __init__(self) -> None:
        self._standing: dict[tuple[str, bytes | None], str] = {}
        self._heard: set[str] = set()
        self._once: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The groups that are there now."""
        return frozenset({*self._standing.values(), *self._heard} - {ALL_GROUPS, ""})

    def has(self, group: str) -> bool:
        """Tell whether a group is there, or was: its name is not mistyped then."""
        return group in self._once or group in self._heard

    def note(self, suffix: str, row: RawRecord) -> None:
        """Note the next record of a topic; ``suffix``: its name after the prefix."""
        if suffix == "heartbeats":
            self._heard.add(group_named(suffix, row.key))
            return
        if suffix not in _COMPACTED:
            return
        if row.value is not None:
            self._once.add(group_named(suffix, row.key))
        if _takes_back(suffix, row.value):
            self._standing.pop((suffix, row.key), None)
        else:
            self._standing[suffix, row.key] = group_named(suffix, row.key)


def _takes_back(suffix: str, value: bytes | None) -> bool:
    """Tell whether a record ends what its key names; a rule ends by a record of its own."""
    if value is None or suffix != "control":
        return value is None
    try:
        body = orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return isinstance(body, dict) and body.get("kind") == "rule" and body.get("value") is None


def named_groups(source: TopicSource) -> NamedGroups:
    """Return the groups that have, or had, an assignment, a rule or a reset.

    Raises:
        EnvironmentMissingError: the topics cannot be read.
    """
    groups = NamedGroups()
    for suffix in ("control", "assignments"):
        for row in source.rows(suffix, source.partitions_of(suffix)):
            groups.note(suffix, row)
    return groups


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the three names of groups or clients that are nearest to one.

    The nearest stands first; equally near ones are sorted. Of very many long names these are three
    near ones, not surely the nearest: the user waits half a second or so.

    >>> nearest_names("order", ["billing", "orders", "orders-eu", "invoices"])
    ['orders', 'orders-eu', 'invoices']
    """
    matcher = difflib.SequenceMatcher(b=name)
    best: list[tuple[float, str]] = []
    steps = 0
    for bound, each in _promising(matcher, known):
        # A name is at most as near as its bound, so no later name is nearer.
        full = len(best) == _NAMED_MAX
        if full and (best[-1] <= (bound, each) or steps > _STEPS_MAX):
            break
        steps += len(each) * len(name) * min(len(each), len(name))
        matcher.set_seq1(each)
        best = sorted([*best, (-matcher.ratio(), each)])[:_NAMED_MAX]
    return [each for _, each in best]


def nearest_words(group: str, known: Iterable[str]) -> str:
    """Say which groups are nearest to an unknown one, without a full stop; empty: none is known."""
    nearest = nearest_names(group, known)
    if not nearest:
        return ""
    return f"The nearest {'is' if len(nearest) == 1 else 'are'} {', '.join(nearest)}"


class NoSuchGroupError(UsageError):
    """Nobody knows a group: its name is mistyped, or it is on another cluster.

    Args:
        group: its name.
        known: the known groups, as far as they were read.
        place: where Fairlead looked: ``at`` a cluster, or ``in`` a recording.
        or_else: another remedy, as a sentence; empty: none.
    """

    def __init__(self, group: str, known: Iterable[str], place: str, or_else: Words) -> None:
        self._asked = group, frozenset(known), place, or_else
        message = (Way("GROUP", "group"), f": there is no group {group} {place}.")
        near = nearest_words(group, self._asked[1])
        remedy: list[Words] = [*_where_else(near), *([" ", or_else] if or_else else [])]
        super().__init__(message, remedy=remedy, field="group", kind="unknown_group")

    def among(self, allowed: Callable[[str], bool]) -> "NoSuchGroupError":
        """Return the error that names no other groups than these."""
        group, known, place, or_else = self._asked
        return NoSuchGroupError(group, filter(allowed, known), place, or_else)


def _where_else(near: str) -> Iterator[str | Way]:
    elsewhere = "look elsewhere (--bootstrap, --topic-prefix, --dump)"
    if near:
        yield f"{near}; "
        shows = f"`fairlead group list` shows all. If it is none of them, {elsewhere}."
        yield Way(shows, "GET /v1/groups lists all.")
    else:
        yield Way(
            f"No group is known there: {elsewhere}, or ask `fairlead doctor` what is missing.",
            "No group like that is known here; GET /v1/groups lists all.",
        )


def unknown_group(
    group: str, known: Iterable[str], place: str, *, or_else: Words = ""
) -> NoSuchGroupError:
    """Return the error for an unknown group; `NoSuchGroupError` has the arguments."""
    return NoSuchGroupError(group, known, place, or_else)


def _promising(
    matcher: "difflib.SequenceMatcher[str]", known: Iterable[str]
) -> list[tuple[float, str]]:
    """Return names, each behind minus its greatest possible ratio, the most promising first."""
    lengths: list[tuple[float, str]] = []
    for each in set(known):
        matcher.set_seq1(each)
        lengths.append((-matcher.real_quick_ratio(), each))
    letters: list[tuple[float, str]] = []
    characters = 0
    for _, each in sorted(lengths):
        characters += len(each)
        if characters > _CHARACTERS_MAX:
            break
        matcher.set_seq1(each)
        letters.append((-matcher.quick_ratio(), each))
    return sorted(letters)
