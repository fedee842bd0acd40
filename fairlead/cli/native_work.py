"""What adopt and release have in common: both groups, who is in them, and where they are."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fairlead.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.bridges.kafka.native_group import NativeGroup
    from fairlead.cli.group_work import GroupWork
    from fairlead.control.native_consumers import NativeConsumers
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

_LOOK_UP_MS_MAX: Final = 10_000
_NAMED_MAX: Final = 10

DataBootstrapOption = Annotated[
    str | None,
    typer.Option("--data-bootstrap", help="The cluster with the messages, if it is another one."),
]
TopicOption = Annotated[
    list[str] | None,
    typer.Option("--topic", help="Only the queues of this topic; may be given again."),
]


@dataclass(frozen=True)
class NativeOptions:
    """Which topics, and where their messages are."""

    topic: TopicOption = None
    data_bootstrap: DataBootstrapOption = None


@dataclass(frozen=True, slots=True)
class BothGroups:
    """Fairlead's group and the native one, on open connections."""

    name: str
    native: "NativeConsumers"
    data: "DataCluster"
    settings: "Settings"
    topics: tuple[str, ...]

    def places(self, ask_seconds: float = 0) -> "list[QueuePlace]":
        """Return the queues of both groups' topics, with the positions of Fairlead's as of now.

        Args:
            ask_seconds: the bridge is asked for routes that are missing, and they are waited for
                so long; 0: it is not asked.

        Raises:
            UsageError: neither of them has anything to do with a topic, or one has no route.
            EnvironmentMissingError: a cluster does not answer.
        """
        from fairlead.kafka.kafka_source import KafkaSource
        from fairlead.observed.group_offsets import GroupOffsets

        source = KafkaSource(self.settings.kafka)
        offsets = GroupOffsets(source, self.data, self.name)
        topics = self.topics or sorted({*self.native.topics(), *offsets.topics()})
        if not topics:
            raise UsageError(
                f"{self.native.group}: no such group has committed anything, and no topic of "
                f"{self.name} is known now.{self._nearest()}",
                remedy="Check the names of both groups, and --data-bootstrap.",
            )
        if ask_seconds and self._ask(topics, ask_seconds):
            # What was read before has no route of them.
            offsets = GroupOffsets(source, self.data, self.name)
        return offsets.places(topics, (), ())

    def require_commits(self) -> None:
        """See that there is a native group that has committed anything.

        Raises:
            UsageError: there is none; the message has the nearest.
            EnvironmentMissingError: the cluster does not answer.
        """
        if not self.native.topics():
            raise UsageError(
                f"{self.native.group}: no such group has committed anything on the cluster with "
                f"the messages.{self._nearest()}",
                remedy="Name the native group (--from), or the cluster (--data-bootstrap).",
            )

    def _ask(self, topics: Sequence[str], seconds_max: float) -> bool:
        """Ask the bridge for the routes of topics that have none; return whether there are any."""
        from fairlead.cli.group_work import warn
        from fairlead.control.route_requests import ask_for_routes, topics_without_route
        from fairlead.kafka.kafka_source import KafkaSource

        kafka = self.settings.kafka
        source = KafkaSource(kafka)
        missing = topics_without_route(source, topics)
        if missing:
            warn(f"no route of {', '.join(missing)} is known: the bridge is asked for it")
            ask_for_routes(kafka, source, self.name, missing, seconds_max)
        return bool(missing)

    def _nearest(self) -> str:
        from fairlead.control.group_names import nearest_names

        nearest = nearest_names(self.native.group, self.data.groups() or ())
        return f" The nearest groups are {', '.join(nearest)}." if nearest else ""


@contextlib.contextmanager
def both_groups(
    work: "GroupWork", native: str | None, options: NativeOptions
) -> Iterator[BothGroups]:
    """Connect to the cluster with the messages; the native group has the same name unless given.

    Raises:
        UsageError: a name is none.
    """
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.cli.logging_up import secrets_of
    from fairlead.control.native_consumers import NativeConsumers
    from fairlead.kafka.connection import library_options
    from fairlead.logs import logs_configured
    from fairlead.wire.texts import GROUP, TOPIC

    if not GROUP.allows(work.name):
        raise UsageError(f"GROUP: {work.name!r} is none.", remedy=f"Give {GROUP.words}.")
    for topic in options.topic or ():
        if not TOPIC.allows(topic):
            raise UsageError(f"--topic: {topic!r} is none.", remedy=f"Give {TOPIC.words}.")
    kafka = work.settings.kafka
    data = DataCluster(
        options.data_bootstrap or kafka.bootstrap,
        timeout_ms=_LOOK_UP_MS_MAX,
        options=library_options(kafka),
    )
    side = NativeConsumers(data, native or work.name)
    # Of failed look-ups the data cluster tells the log; rows are all that goes to stdout.
    with contextlib.closing(data), logs_configured(secrets=secrets_of(kafka)):
        yield BothGroups(work.name, side, data, work.settings, tuple(options.topic or ()))


def members_of(work: "GroupWork") -> list[str]:
    """Return the clients that are in Fairlead's group, or are waited for.

    One that leaves is in it until it has released what it held.

    Raises:
        EnvironmentMissingError: the topics cannot be read.
    """
    from fairlead.core.membership import effective_members
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.observed.live_group import UnknownGroupError
    from fairlead.observed.reading import read_live_group
    from fairlead.planning.holdings import holdings_of

    source, tick_ms = KafkaSource(work.settings.kafka), work.settings.engine.tick_ms
    try:
        live = read_live_group(source, work.name, work.strategies, tick_ms)
    except UnknownGroupError:
        return []
    state = live.core.state
    holders = holdings_of(live, {key.client_id for key in state.members})
    return sorted({*effective_members(state.members), *holders, *state.awaited})


def refuse_if_at_work(native: "NativeConsumers", since: str = "") -> None:
    """Refuse while somebody is in the native group; ``since`` says what was done before.

    Raises:
        RefusedError: somebody is; the message lists them.
        EnvironmentMissingError: the cluster does not answer.
    """
    found = native.read_members()
    if found.is_at_work:
        raise RefusedError(
            f"{native.group}: the native group is at work ({found.state}): {_names(found)}.{since}",
            remedy="Stop its consumers first; then do it again.",
        )


def _names(found: "NativeGroup") -> str:
    if not found.members:
        return "its members cannot be listed"
    return shortened([str(each) for each in found.members])


def shortened(names: Sequence[str]) -> str:
    """Return some names for a message: the first ones, and how many more there are."""
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
