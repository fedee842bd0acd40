"""Who shares a group's queues in a play of the demo."""

from enum import StrEnum

__all__ = ["Way"]


class Way(StrEnum):
    """Who shares a group's queues."""

    FAIRLEAD = "fairlead"
    ROCKETMQ = "rocketmq"
    ROLL_OUT = "roll-out"
    """RocketMQ, then Fairlead, then RocketMQ again, while everything runs."""

    @property
    def words(self) -> str:
        """How a table's head calls it."""
        return {
            Way.FAIRLEAD: "Fairlead",
            Way.ROCKETMQ: "RocketMQ's own",
            Way.ROLL_OUT: "roll-out and back",
        }[self]
