"""The names of the topics: a prefix from the settings, and eleven fixed suffixes."""

from dataclasses import dataclass

__all__ = ["ALL_TOPICS", "CLIENT_TOPICS", "INPUT_TOPICS", "OUTPUT_TOPICS", "TopicNames"]

CLIENT_TOPICS = ("handovers",)
"""Suffixes of the topics that only clients use; the engine only creates them."""

INPUT_TOPICS = ("heartbeats", "releases", "control", "routes", "offsets", "generations")
"""Suffixes of the topics that the engine reads."""

OUTPUT_TOPICS = ("assignments", "decisions", "requests", "rejects")
"""Suffixes of the topics that the engine writes."""

ALL_TOPICS = INPUT_TOPICS + CLIENT_TOPICS + OUTPUT_TOPICS
"""All suffixes."""


@dataclass(frozen=True, slots=True)
class TopicNames:
    """Full topic names under one prefix."""

    prefix: str = "fairlead."

    def name(self, suffix: str) -> str:
        """Return the full name of the topic with this suffix; ValueError if it is unknown."""
        if suffix not in ALL_TOPICS:
            raise ValueError(f"{suffix} is not a topic suffix; use one of {ALL_TOPICS}")
        return self.prefix + suffix

    def suffix(self, topic: str) -> str | None:
        """Return the suffix of a full name; None if it is not one of our topics."""
        suffix = topic.removeprefix(self.prefix)
        if topic.startswith(self.prefix) and suffix in ALL_TOPICS:
            return suffix
        return None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Full names of the topics that the engine reads."""
        return tuple(self.prefix + suffix for suffix in INPUT_TOPICS)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Full names of the topics that the engine writes."""
        return tuple(self.prefix + suffix for suffix in OUTPUT_TOPICS)
