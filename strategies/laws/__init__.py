"""Laws for strategies: those that the engine relies on, and those that a strategy may promise.

`check_laws` tests a strategy against laws in many small worlds; it needs only this package.
"""

from strategies.laws.answers import (
    ANY_ORDER,
    EVERY_QUEUE_OWNED,
    FREE,
    ONE_OWNER,
    OWNERS_CHANGE_NOTHING,
    TWICE_IS_ONCE,
    spread_by_topic,
    spread_in_total,
)
from strategies.laws.checking import BrokenLawError, broken_laws, check_laws
from strategies.laws.law import Law
from strategies.laws.movement import (
    ALIKE_FEWEST_MOVES,
    ALIKE_ONLY_THE_CHANGE_MOVES,
    ONLY_THE_CHANGE_MOVES,
    OTHER_TOPICS_STAY,
    moves_at_most,
)
from strategies.laws.trial import Change, Trial
from strategies.laws.worlds import worlds

__all__ = [
    "ALIKE_FEWEST_MOVES",
    "ALIKE_ONLY_THE_CHANGE_MOVES",
    "ANY_ORDER",
    "EVERY_QUEUE_OWNED",
    "FREE",
    "ONE_OWNER",
    "ONLY_THE_CHANGE_MOVES",
    "OTHER_TOPICS_STAY",
    "OWNERS_CHANGE_NOTHING",
    "TWICE_IS_ONCE",
    "BrokenLawError",
    "Change",
    "Law",
    "Trial",
    "broken_laws",
    "check_laws",
    "moves_at_most",
    "spread_by_topic",
    "spread_in_total",
    "worlds",
]
