"""The topics of a group whose past a command shows."""

from typing import TYPE_CHECKING

from fairlead.cli.names import require_group
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.errors import NothingProvedError

if TYPE_CHECKING:
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.settings import Settings

__all__ = ["no_decision", "source_of_group"]


def source_of_group(group: str, shared: SourceOptions) -> "tuple[Settings, TopicSource]":
    """Return the settings and the topics of a group.

    Raises:
        UsageError: the name is no group name, or the folder no recording.
        EnvironmentMissingError: the topics cannot be read.
    """
    from fairlead.kafka.caching_source import CachingSource

    require_group(group)
    settings = shared.settings()
    # Past and present must come from the same records.
    return settings, CachingSource(shared.open(settings))


def no_decision(group: str, source: "TopicSource") -> NothingProvedError:
    """Return the error of topics that have the group, but none of its decisions."""
    return NothingProvedError(
        f"{group}: there is no decision of it {source.place}.",
        remedy="They are older than the topic keeps, or were not recorded.",
    )
