"""RocketMQ's delay levels, and which queue of a retry topic each has."""

from typing import Final

DELAYS_MS: Final = tuple(
    1_000 * seconds
    for seconds in (
        *(1, 5, 10, 30),
        *(60 * minutes for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30)),
        *(3_600, 7_200),
    )
)
"""Level 1, 2, … 18 in milliseconds (MessageStoreConfig.messageDelayLevel)."""
LEVELS: Final = len(DELAYS_MS)
FIRST_RETRY_LEVEL: Final = 3
"""The level of a message that failed once; one more each time."""


def level_of(reconsume_times: int, named: int) -> int:
    """Return how long a message waits, as a level from 1 to 18.

    Source: AbstractSendMessageProcessor#consumerSendMsgBack (5.x).

    Args:
        reconsume_times: how often it came back before.
        named: the level that the application wants; 0: it grows with the times.
    """
    return min(named or FIRST_RETRY_LEVEL + reconsume_times, LEVELS)


def delay_ms(level: int) -> int:
    """Return a level's delay in milliseconds."""
    return DELAYS_MS[level - 1]


def queue_of_level(level: int, queues: int, spread: int) -> int:
    """Return which queue of a retry topic holds messages of a level.

    Each level has queues of its own, as in RocketMQ's schedule topic, so that all that stand in one
    are due in the order in which they came. In a topic of fewer queues than levels neighbouring
    levels share one.

    Args:
        level: 1 to 18.
        queues: how many the topic has.
        spread: any number; equal ones get the same of the level's queues.
    """
    of_each = queues // LEVELS
    if not of_each:
        return (level - 1) * queues // LEVELS
    return (level - 1) * of_each + spread % of_each
