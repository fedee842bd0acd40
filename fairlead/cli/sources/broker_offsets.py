"""Positions and ends that the brokers have, of groups that report nothing themselves."""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from fairlead.cli.render.output import warn
from fairlead.cli.sources.data_cluster import data_cluster

if TYPE_CHECKING:
    from fairlead.core.model import MessageQueue, Position
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.positions import QueuePosition
    from fairlead.settings import Settings

__all__ = ["BrokerOffsets", "ask_brokers", "offline_places"]

_GROUPS_MAX: Final = 200
"""Ask for the commits of at most this many groups, a request each; serve asks for all."""


class BrokerOffsets(NamedTuple):
    """The brokers' answer.

    Attributes:
        at_ms: its time.
        ends: the next offset of each queue.
        committed: group -> queue -> its commit, under the present identity of the topic.
        identities: the identity of each topic.
    """

    at_ms: int
    ends: "Mapping[MessageQueue, int]"
    committed: "Mapping[str, Mapping[MessageQueue, Position]]"
    identities: Mapping[str, str]


def ask_brokers(
    wanted: "Mapping[str, Iterable[MessageQueue]]", settings: "Settings"
) -> BrokerOffsets | None:
    """Return how far groups are in these queues; None: there is nothing to ask.

    What the brokers do not answer is left out. Of too many groups only the first are asked for, and
    a warning counts the others.
    """
    from fairlead.serve.offset_poller import PolledTopics

    left = len(wanted) - _GROUPS_MAX
    if left > 0:
        wanted = dict([*wanted.items()][:_GROUPS_MAX])
        warn(f"the brokers are not asked for the lag of {left} more groups (fairlead serve does)")
    if not wanted:
        return None
    at_ms = time.time_ns() // 1_000_000
    with data_cluster(settings.kafka) as data:
        polled = PolledTopics(data)
        polled.read_ends(queue for queues in wanted.values() for queue in queues)
        committed = {group: polled.committed(group, queues) for group, queues in wanted.items()}
    return BrokerOffsets(at_ms, polled.ends, committed, polled.identities)


def offline_places(
    standings: "Iterable[GroupStanding]", settings: "Settings"
) -> "dict[str, dict[MessageQueue, QueuePosition]]":
    """Return the positions of groups without members, as far as the brokers have them."""
    from fairlead.observed.positions import QueuePosition

    empty = {each.name: each for each in standings if not each.sharing and each.queues}
    asked = ask_brokers(
        {name: [one.queue for one in each.queues] for name, each in empty.items()}, settings
    )
    places: dict[str, dict[MessageQueue, QueuePosition]] = {}
    for name, positions in {} if asked is None else asked.committed.items():
        assert asked is not None, "there are positions"
        places[name] = {}
        for queue in empty[name].queues:
            reported, end = queue.place, asked.ends.get(queue.queue)
            release, committed = empty[name].release, positions.get(queue.queue)
            if release is None:
                position = max(filter(None, (reported.position, committed)), default=None)
            else:
                position = None if release.elsewhere else committed
            if end is not None and position is not None:
                by = reported.told_by if position == reported.position else "committed"
                places[name][queue.queue] = QueuePosition(
                    position, by, end, reported.earliest, asked=True
                )
    return places
