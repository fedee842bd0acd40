"""RocketMQ's delay levels, and the queues of a retry topic for each level."""

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
"""The level of a message that failed once; each further failure adds one."""


def level_of(reconsume_times: int, named: int) -> int:
    """Return a message's delay level, from 1 to 18.

    Source: AbstractSendMessageProcessor#consumerSendMsgBack (5.x).

    Args:
        reconsume_times: how often it came back before.
        named: the level that the application chose; 0: it grows with `reconsume_times`.
    """
    return min(named or FIRST_RETRY_LEVEL + reconsume_times, LEVELS)


def delay_ms(level: int) -> int:
    """Return a level's delay in milliseconds."""
    return DELAYS_MS[level - 1]


def queue_of_level(level: int, queues: int, spread: int) -> int:
    """Return the queue of a retry topic for a message of this level.

    Each level has its own queues, as in RocketMQ's schedule topic, so messages of one queue are due
    in the order of their arrival. If the topic has fewer queues than levels, neighbouring levels
    share one.

    Args:
        level: 1 to 18.
        queues: the number of the topic's queues.
        spread: any number; equal numbers get the same queue of the level.
    """
    of_each = queues // LEVELS
    if not of_each:
        return (level - 1) * queues // LEVELS
    return (level - 1) * of_each + spread % of_each
