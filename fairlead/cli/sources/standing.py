"""The state of one group, from its topics and the positions of the data cluster."""

from typing import TYPE_CHECKING

from fairlead.cli.render.output import warn
from fairlead.cli.sources.source_options import tick_ms_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.core.model import MessageQueue
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.positions import QueuePosition
    from fairlead.settings import Settings

__all__ = ["standing_from", "warn_of_refused"]


def standing_from(
    group: str,
    source: "TopicSource",
    settings: "Settings",
    places: "Mapping[MessageQueue, QueuePosition] | None" = None,
) -> "GroupStanding":
    """Return the state of a group; ``places``: its positions by the data cluster.

    Raises:
        UsageError: there is no such group.
        EnvironmentMissingError: its topics cannot be read.
    """
    from fairlead.control.group_names import unknown_group
    from fairlead.observed.live_group import UnknownGroupError
    from fairlead.observed.reading import read_standing
    from strategies.own_strategies import all_strategies

    try:
        return read_standing(
            source,
            group,
            all_strategies(settings.engine.strategies),
            tick_ms_of(source, settings),
            history_ms=settings.serve.history_ms,
            places=places,
        )
    except UnknownGroupError as error:
        raise unknown_group(group, error.known, source.place) from error


def warn_of_refused(standing: "GroupStanding") -> None:
    """Warn of rules of a group that are not in force."""
    from fairlead.observed.group_notes import refusal_notes

    for note in refusal_notes(standing.live):
        warn(f"{standing.name}: {note}")
