"""Both groups of adopt and release: who is in them, and where they are."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fairlead.cli.names import require_group, require_topics
from fairlead.cli.sources.data_plane_options import DataPlaneOptions
from fairlead.counts import listed
from fairlead.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from fairlead.bridges.kafka.native_group import NativeGroup
    from fairlead.cli.change.rule_command import RuleCommand
    from fairlead.control.data_plane import DataPlane
    from fairlead.control.native_side import NativeSide
    from fairlead.control.queue_place import QueuePlace
    from fairlead.settings import Settings

__all__ = [
    "BothGroups",
    "NativeOptions",
    "both_groups",
    "members_of",
    "refuse_if_at_work",
    "shortened",
]

_NAMED_MAX: Final = 10
_CLUSTER: Final = "--data-bootstrap, --namesrv"

TopicOption = Annotated[
    list[str] | None,
    typer.Option("--topic", help="Only the queues of this topic. Repeatable."),
]


@dataclass(frozen=True)
class NativeOptions(DataPlaneOptions):
    """Which topics, and where their messages are."""

    topic: TopicOption = None


@dataclass(frozen=True, slots=True)
class BothGroups:
    """Fairlead's group and the native one, on open connections."""

    name: str
    native: "NativeSide"
    data: "DataPlane"
    settings: "Settings"
    topics: tuple[str, ...]
    on_rocketmq: bool

    def places(self, ask_seconds: float = 0) -> "list[QueuePlace]":
        """Return the queues of both groups' topics, with the positions of Fairlead's as of now.

        Args:
            ask_seconds: how long to wait for the bridge to publish missing routes; 0: do not ask.

        Raises:
            UsageError: neither group has a topic, or a topic has no route.
            EnvironmentMissingError: a cluster does not answer.
        """
        from fairlead.kafka.kafka_source import KafkaSource
        from fairlead.observed.group_offsets import GroupOffsets

        source = KafkaSource(self.settings.kafka)
        offsets = GroupOffsets(source, self.data, self.name)
        topics = self.topics or sorted({*self.native.topics(), *offsets.topics()})
        if not topics:
            raise UsageError(
                f"{self.native.group}: this group has committed nothing, and no topic of "
                f"{self.name} is known.{self._nearest()}",
                remedy=f"Check the names of both groups, and the cluster ({_CLUSTER}).",
            )
        if ask_seconds and self._ask(topics, ask_seconds):
            # What was read before has no route of them.
            offsets = GroupOffsets(source, self.data, self.name)
        return offsets.places(topics, (), ())

    def require_commits(self) -> None:
        """Require that the native group has committed something.

        Raises:
            UsageError: it has not; the message names the nearest groups.
            EnvironmentMissingError: the cluster does not answer.
        """
        if not self.native.topics():
            raise UsageError(
                f"{self.native.group}: this group has committed nothing on the cluster with the "
                f"messages.{self._nearest()}",
                remedy=f"Name the native group (--from), or the cluster ({_CLUSTER}).",
            )

    def _ask(self, topics: Sequence[str], seconds_max: float) -> bool:
        """Ask the bridge for missing routes; return whether any were missing."""
        from fairlead.cli.render.output import warn
        from fairlead.control.route_requests import ask_for_routes, topics_without_route
        from fairlead.kafka.kafka_source import KafkaSource

        kafka = self.settings.kafka
        source = KafkaSource(kafka)
        missing = topics_without_route(source, topics)
        if missing:
            warn(f"no route of {', '.join(missing)} is known: asking the bridge for it")
            ask_for_routes(kafka, source, self.name, missing, seconds_max)
        return bool(missing)

    def _nearest(self) -> str:
        from fairlead.control.group_names import nearest_names

        nearest = nearest_names(self.native.group, self.data.groups() or ())
        return f" The nearest groups are {', '.join(nearest)}." if nearest else ""


@contextlib.contextmanager
def both_groups(
    command: "RuleCommand", native: str | None, options: NativeOptions
) -> Iterator[BothGroups]:
    """Connect to the cluster with the messages; ``native`` None: the group of the same name.

    Raises:
        UsageError: a name is not allowed.
    """
    require_group(command.name)
    require_topics(options.topic or ())
    group, topics = native or command.name, tuple(options.topic or ())
    with options.opened(command.settings.kafka) as plane:
        from fairlead.control.native_consumers import NativeConsumers
        from fairlead.control.rocketmq_consumers import RocketMQConsumers
        from fairlead.control.rocketmq_plane import RocketMQPlane

        side: NativeSide
        if isinstance(plane, RocketMQPlane):
            side = RocketMQConsumers(plane, group)
        else:
            side = NativeConsumers(plane.data, group)
        yield BothGroups(
            command.name,
            side,
            plane,
            command.settings,
            topics,
            on_rocketmq=isinstance(plane, RocketMQPlane),
        )


def members_of(command: "RuleCommand") -> list[str]:
    """Return the clients that are in Fairlead's group, or that it waits for.

    A client that leaves is in the group until it has released its queues.

    Raises:
        EnvironmentMissingError: the topics cannot be read.
    """
    from fairlead.core.membership.members import effective_members
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.observed.live_group import UnknownGroupError
    from fairlead.observed.reading import read_live_group
    from fairlead.planning.holdings import holdings_of

    source, tick_ms = KafkaSource(command.settings.kafka), command.settings.engine.tick_ms
    try:
        live = read_live_group(source, command.name, command.strategies, tick_ms)
    except UnknownGroupError:
        return []
    state = live.core.state
    holders = holdings_of(live, {key.client_id for key in state.members})
    return sorted({*effective_members(state.members), *holders, *state.awaited})


def refuse_if_at_work(native: "NativeSide", since: str = "") -> None:
    """Refuse while the native group has members; ``since`` says what has happened already.

    Raises:
        RefusedError: it has some; the message lists them.
        EnvironmentMissingError: the cluster does not answer.
    """
    group = native.read_members()
    if group.is_at_work:
        raise RefusedError(
            f"{native.group}: the native group is at work ({group.state}): {_names(group)}.{since}",
            remedy="Stop its consumers; then run the command again.",
        )


def _names(group: "NativeGroup") -> str:
    if not group.members:
        return "its members cannot be listed"
    return shortened([str(each) for each in group.members])


def shortened(names: Sequence[str]) -> str:
    """Return the first names of many, and how many more there are."""
    return listed(names, shown_max=_NAMED_MAX)
