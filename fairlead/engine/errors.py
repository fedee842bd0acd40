"""The errors that stop a shard, and with it the job: going on would break a promise."""

from fairlead.errors import RefusedError, SupersededError

__all__ = ["AppendTimeMissingError", "HigherGenerationError"]


class AppendTimeMissingError(RefusedError):
    """A topic that carries the clock does not stamp its records with the broker's append time."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"records of {topic} lack the broker's append time, which is the engine's clock",
            remedy=f"set message.timestamp.type=LogAppendTime on {topic} and start again",
        )
        self.topic = topic


class HigherGenerationError(SupersededError):
    """A driver of a higher generation runs on the same topics: this one writes nothing more."""

    def __init__(self, generation: int, own: int) -> None:
        super().__init__(
            f"generation {generation} has taken over from generation {own}",
            remedy="leave this engine stopped; if it should run, stop the other one first",
        )
        self.generation = generation
        self.own = own
