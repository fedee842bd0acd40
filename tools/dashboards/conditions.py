"""What is counted as unsafe, as in need of a look, and as well: the words of the first row."""

from typing import Final

from tools.dashboards.panel import Word
from tools.dashboards.promql import (
    ENGINE_SEEN,
    FOLLOWED,
    UNKNOWN,
    of_groups,
    of_job,
    or_unknown,
    or_zero,
)

GREEN: Final = "green"
ORANGE: Final = "orange"
RED: Final = "red"
PURPLE: Final = "purple"
BLUE: Final = "blue"

STUCK: Final = "5m"
"""A group that has not converged for so long is stuck: a handover takes seconds."""

BATCH_SLOW_S: Final = 15
BATCH_STALLED_S: Final = 60
LAG_RECORDS: Final = 10_000
LAG_RECORDS_MANY: Final = 200_000
"""As many as one batch of the engine reads at most."""

NOBODY_TELLS: Final = Word(UNKNOWN, PURPLE, "UNKNOWN")
"""No exporter tells: that is no good news."""

_PAUSED: Final = of_groups("fairlead_group_phase", phase="paused")

UNSAFE_BY_GROUP: Final = f"{of_groups('fairlead_group_queues_unsafe')}"
VIOLATIONS_BY_GROUP: Final = of_groups("fairlead_overlap_violations_total").grown("5m")
OWNERLESS_BY_GROUP: Final = (
    f"sum by (group) ({of_groups('fairlead_group_queues_unassigned', 'topic')})"
    f" and on (group) {of_groups('fairlead_group_members')} > 0"
    f" unless on (group) {_PAUSED} > 0"
)
"""Queues that nobody reads although their group has members and is not paused."""

STUCK_BY_GROUP: Final = (
    f"{of_groups('fairlead_group_converged').highest(STUCK)} == 0"
    f" and {of_groups('fairlead_group_converged').before(STUCK)}"
)
ALARMS_BY_GROUP: Final = f"count by (group) ({of_groups('fairlead_group_alarm', 'alarm')} > 0)"

UNSAFE: Final = f"(sum({UNSAFE_BY_GROUP}) + (sum({VIOLATIONS_BY_GROUP}) or 0 * {FOLLOWED}))"
OWNERLESS: Final = f"sum({OWNERLESS_BY_GROUP})"
STUCK_GROUPS: Final = f"count({STUCK_BY_GROUP})"
ALARMED: Final = f"count({ALARMS_BY_GROUP})"
BATCH_AGE: Final = f"(time() - max({of_job('fairlead_last_batch_timestamp_seconds')} > 0))"
ENGINE_LAG: Final = f"sum({of_job('fairlead_input_lag_records')})"
VIEW_LAG: Final = f"max(sum by (instance) ({of_job('fairlead_view_lag_records')}))"


def _if_any(number: int, *conditions: str) -> str:
    """Return that number while one of the conditions holds."""
    union = " or ".join(f"({condition})" for condition in conditions)
    return f"({number} + 0 * ({union}))"


_DEGRADED: Final = _if_any(
    1,
    f"{OWNERLESS} > 0",
    f"{STUCK_GROUPS} > 0",
    f"{ALARMED} > 0",
    f"{BATCH_AGE} >= {BATCH_SLOW_S}",
    f"{ENGINE_LAG} >= {LAG_RECORDS}",
    f"{VIEW_LAG} >= {LAG_RECORDS}",
)

VERDICT: Final = or_unknown(
    f"{_if_any(2, f'{UNSAFE} > 0')} or {_DEGRADED} or (0 * ({FOLLOWED} + {ENGINE_SEEN}))"
)
"""2: a queue may have two owners; 1: something else is not green; 0: all is well; -1: not known."""

VERDICT_WORDS: Final = (
    NOBODY_TELLS,
    Word(0, GREEN, "SAFE"),
    Word(1, ORANGE, "SAFE, BUT LOOK"),
    Word(2, RED, "UNSAFE"),
)


def counted(expression: str) -> str:
    """Return a count for a tile: 0 while somebody looks, unknown where nobody does."""
    return or_unknown(or_zero(expression))
