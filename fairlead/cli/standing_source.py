"""How a group stands, from its topics, with what the data cluster says of its positions."""

from typing import TYPE_CHECKING

from fairlead.cli.group_work import warn
from fairlead.cli.plan_start import tick_ms_of

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
    """Return how a group stands; ``places``: where the data cluster says it is.

    Raises:
        UsageError: there is no such group.
        EnvironmentMissingError: its topics cannot be read.
    """
    from fairlead.control.group_names import unknown_group
    from fairlead.observed.live_group import UnknownGroupError
    from fairlead.observed.reading import read_standing
    from strategies.own_strategies import all_strategies

    try:
        found = read_standing(
            source,
            group,
            all_strategies(settings.engine.strategies),
            tick_ms_of(source, settings),
            history_ms=settings.serve.history_ms,
            places=places,
        )
    except UnknownGroupError as error:
        raise unknown_group(group, error.known, source.place) from error
    warn_of_refused(found)
    return found


def warn_of_refused(found: "GroupStanding") -> None:
    """Say which rules of a group are not in force."""
    for refused in found.live.in_force.refused.values():
        warn(
            f"{found.name}: a rule is refused ({refused.error.detail}), so the one before it "
            "counts; if the engine knows more strategies, give --config as to `fairlead run`"
        )
