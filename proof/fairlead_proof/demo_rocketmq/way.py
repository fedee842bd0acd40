"""Who shares a group's queues."""

from enum import StrEnum

__all__ = ["Way"]


class Way(StrEnum):
    """Who shares a group's queues."""

    FAIRLEAD = "fairlead"
    ROCKETMQ = "rocketmq"

    @property
    def words(self) -> str:
        """How a table's head calls it."""
        return {"fairlead": "Fairlead", "rocketmq": "RocketMQ's own"}[self.value]
