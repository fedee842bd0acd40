"""The scene of a run: brokers, topics with their queues, and how the group shares them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.core.model import MessageQueue

__all__ = ["Scene"]


@dataclass(frozen=True, slots=True)
class Scene:
    """Brokers by name, and each topic's number of queues on each broker.

    ``settle_ms``: the rule of that name, which only our side has. ``here``: our side's strategy if
    another strategy is the remedy; "": the same as RocketMQ's.
    """

    queues: Mapping[str, int]
    brokers: tuple[str, ...] = ("broker-a",)
    strategy: str = "AVG"
    options: Mapping[str, Any] = field(default_factory=dict)
    ordered: bool = False
    settle_ms: int = 0
    here: str = ""

    def queues_of(self, topic: str, each: int | None = None) -> tuple[MessageQueue, ...]:
        """Return a topic's queues in RocketMQ's order; ``each`` overrides the number per broker."""
        number = self.queues[topic] if each is None else each
        return tuple(
            MessageQueue(topic, broker, queue_id)
            for broker in self.brokers
            for queue_id in range(number)
        )

    def name_of(self, queue: MessageQueue) -> str:
        """Return the short name of a queue: q3, with its broker or topic if there are several."""
        short = f"q{queue.queue_id}"
        if len(self.brokers) > 1:
            short = f"{queue.broker_name.removeprefix('broker-')}/{short}"
        return short if len(self.queues) == 1 else f"{queue.topic} {short}"
