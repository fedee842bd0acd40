"""The group that a plan starts from, as its topics tell it."""

from typing import NamedTuple

from fairlead.control.group_names import named_groups, unknown_group
from fairlead.core.membership.members import effective_members
from fairlead.core.model import Epoch
from fairlead.errors import UsageError, VerdictError, Words
from fairlead.kafka.caching_source import CachingSource
from fairlead.kafka.decision_log import newest_epoch
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.group_notes import plan_notes
from fairlead.observed.last_topics import LastTopics
from fairlead.observed.live_group import LiveGroup, MovingQueue
from fairlead.observed.planned_group import PlannedGroup
from fairlead.observed.reading import read_live_group
from fairlead.operating.offline_topics import OpenData, offline_topics, offline_words
from fairlead.settings import Settings
from strategies.own_strategies import all_strategies

__all__ = ["GroupReader", "Start", "live_group"]

_ATTEMPTS_MAX = 5


class Start(NamedTuple):
    """The group, and what its reader has to know."""

    planned: PlannedGroup
    passing: tuple[MovingQueue, ...] = ()
    remarks: tuple[Words, ...] = ()
    epoch: Epoch | None = None
    """The epoch of the newest decision, if asked for; None for a document."""
    topics: tuple[str, ...] = ()
    """What a group without members subscribed to when it had some."""


class GroupReader(NamedTuple):
    """Reads a live group, or a recorded one.

    Attributes:
        group: its name.
        source: the topics.
        settings: have the engine's strategies.
        open_data: connects to the cluster with the messages; None: a recording has no such.
        measured: also read what the queues weigh.
    """

    group: str
    source: TopicSource
    settings: Settings
    open_data: OpenData | None
    measured: bool = False

    def read(self) -> Start:
        """Read the group once.

        Raises:
            UsageError: it never was.
            EnvironmentMissingError: its topics cannot be read.
        """
        source = CachingSource(self.source)
        live, last = _read_group(self._replace(source=source), whole=self.source)
        remarks = plan_notes(live, source.now_ms())
        if not _is_offline(live):
            return Start(live.planned, live.passing, remarks)
        topics = () if last is None else last.topics
        return Start(
            live.planned,
            live.passing,
            (*offline_words(self.group, last), *remarks),
            topics=topics,
        )

    def read_dated(self) -> Start:
        """Read until the group decides nothing meanwhile, so that all is of one epoch.

        Raises:
            VerdictError: the group has decided something during every attempt.
        """
        epoch = newest_epoch(self.source, self.group)
        for _ in range(_ATTEMPTS_MAX):
            start, before = self.read(), epoch
            epoch = newest_epoch(self.source, self.group)
            if epoch == before:
                return start._replace(epoch=epoch)
        raise VerdictError(
            f"GROUP: {self.group} keeps deciding (epoch {epoch} now): a plan would be "
            "outdated at once.",
            remedy="Wait until it is calm (fairlead watch shows it), or plan without --save.",
        )


def live_group(reader: GroupReader) -> tuple[LiveGroup, tuple[str, ...]]:
    """Return a group as its topics tell it; a group that has lost its members is empty.

    Returns:
        The group, and what it subscribed to when it had members, if it has none.

    Raises:
        UsageError: the group never was, or one of its rules names an unknown strategy: then nobody
            knows what rules beside it would do.
        EnvironmentMissingError: its topics cannot be read.
    """
    live, last = _read_group(reader, whole=reader.source)
    for refused in live.in_force.refused.values():
        if refused.error.reason == "unknown_strategy":
            raise UsageError(
                f"engine.strategies: a rule of {reader.group} names a strategy that is not known "
                f"here: {refused.error.detail}.",
                remedy="Give --config as to `fairlead run`, so that its own strategies are known; "
                "if the engine rejects the rule too, set a strategy that it has.",
            )
    return live, () if last is None else last.topics


def _read_group(reader: GroupReader, *, whole: TopicSource) -> tuple[LiveGroup, LastTopics | None]:
    """Return a group, and what it subscribed to if nobody is in it.

    ``whole``: the topics without a cache, since old decisions may be very many. UsageError: it
    never was; EnvironmentMissingError: its topics cannot be read.
    """
    group, source, settings, open_data, measured = reader
    tick_ms = source.tick_ms or settings.engine.tick_ms
    strategies = all_strategies(settings.engine.strategies)
    live = read_live_group(source, group, strategies, tick_ms, measured=measured, forgotten=True)
    last = None
    if _is_offline(live):
        last = offline_topics(live, whole, open_data)
        if last is None and not (live.core.state.members or live.core.state.rules):
            raise unknown_group(group, named_groups(source).names | live.others, source.place)
    return live, last


def _is_offline(live: LiveGroup) -> bool:
    """Tell whether a group has no members but leaving ones, and waits for nobody."""
    state = live.core.state
    return not effective_members(state.members) and not state.awaited
