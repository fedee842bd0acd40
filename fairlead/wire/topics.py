"""The names of the topics: a prefix, which is a setting, and ten fixed suffixes."""

from dataclasses import dataclass

__all__ = ["INPUT_TOPICS", "OUTPUT_TOPICS", "TopicNames"]

INPUT_TOPICS = ("heartbeats", "releases", "control", "routes", "offsets", "generations")
"""Suffixes of the topics that the engine reads."""

OUTPUT_TOPICS = ("assignments", "decisions", "requests", "rejects")
"""Suffixes of the topics that the engine writes."""


@dataclass(frozen=True, slots=True)
class TopicNames:
    """Full topic names under one prefix."""

    prefix: str = "fairlead."

    def name(self, suffix: str) -> str:
        """Return the full name of the topic with this suffix; ValueError if there is none."""
        if suffix not in INPUT_TOPICS and suffix not in OUTPUT_TOPICS:
            raise ValueError(f"{suffix} is not a topic; use one of {INPUT_TOPICS + OUTPUT_TOPICS}")
        return self.prefix + suffix

    def suffix(self, topic: str) -> str | None:
        """Return which topic a full name means, None if it is none of ours."""
        suffix = topic.removeprefix(self.prefix)
        if topic.startswith(self.prefix) and suffix in INPUT_TOPICS + OUTPUT_TOPICS:
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
