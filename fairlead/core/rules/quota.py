"""How much one group may have, as a rule of the group (ADR 0165).

Decides which values a quota may take, and the words of the refusals.
:mod:`fairlead.core.membership.surplus` and :mod:`fairlead.engine.admission` decide what it refuses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from fairlead.core.rules.rule_error import RuleError

__all__ = [
    "BUILT_IN",
    "QUOTA",
    "QUOTA_BOUNDS",
    "QUOTA_BYTES",
    "QUOTA_GROUPS",
    "QUOTA_MEMBERS",
    "QUOTA_NEW_GROUPS",
    "QUOTA_QUEUES",
    "QUOTA_REASONS",
    "QUOTA_RECORDS",
    "QUOTA_STATE",
    "QUOTA_TOPICS",
    "Quota",
    "read_quota",
]

QUOTA: Final = "quota"
"""The rule's name."""

QUOTA_GROUPS: Final = "quota_groups"
"""There are as many groups as there may be."""
QUOTA_NEW_GROUPS: Final = "quota_new_groups"
"""Too many new groups came just now: the next ones wait."""
QUOTA_MEMBERS: Final = "quota_members"
"""The group has as many members as it may have."""
QUOTA_TOPICS: Final = "quota_topics"
"""The member subscribes to more topics than one may."""
QUOTA_QUEUES: Final = "quota_queues"
"""A route brings more queues than the group may read, or a member claims more than there can be."""
QUOTA_RECORDS: Final = "quota_records"
"""The group wrote more records in this second than it may."""
QUOTA_BYTES: Final = "quota_bytes"
"""Large heartbeats brought too many bytes just now: the next ones wait."""
QUOTA_STATE: Final = "quota_state_bytes"
"""The group's state would be greater than it may be."""

QUOTA_REASONS: Final = (
    QUOTA_GROUPS,
    QUOTA_NEW_GROUPS,
    QUOTA_MEMBERS,
    QUOTA_TOPICS,
    QUOTA_QUEUES,
    QUOTA_RECORDS,
    QUOTA_BYTES,
    QUOTA_STATE,
)
"""Why a quota refuses a record."""


@dataclass(frozen=True, slots=True)
class Quota:
    """The rule ``quota``.

    Attributes:
        members: clients (by client id) in the group.
        topics: topics that one member subscribes to.
        queues: queues of all topics that the group reads.
        records_per_second: records of the heartbeats topic, on the clock of the log. Known members
            have as many again for themselves.
        state_bytes: about the size of the group's stored state.
    """

    members: int = 1_000
    topics: int = 100
    queues: int = 20_000
    records_per_second: int = 1_000
    state_bytes: int = 8_000_000


BUILT_IN: Final = Quota()
"""The quota without a rule."""

QUOTA_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "members": (1, 100_000),
    "topics": (1, 10_000),
    "queues": (1, 1_000_000),
    "records_per_second": (10, 1_000_000),
    "state_bytes": (100_000, 1_000_000_000),
}
"""The least and the greatest value of each."""


def read_quota(value: object, before: Quota = BUILT_IN) -> Quota:
    """Return the rule of a plain value; fields that it leaves out stay as in ``before``.

    Raises:
        RuleError: names the field and what it must be.
    """
    names = [each.name for each in fields(Quota)]
    if not isinstance(value, dict) or not value.keys() <= {*names}:
        detail = "a quota is an object of nothing but its fields"
        raise RuleError("", detail, f"send an object of {', '.join(names)}")
    for name in sorted(value):
        number, (low, high) = value[name], QUOTA_BOUNDS[name]
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            raise RuleError(name, f"{number!r} is out of bounds", f"send {low} to {high}")
    return replace(before, **value)
