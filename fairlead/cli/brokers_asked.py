"""How far groups are that tell nothing themselves, asked of the brokers: those nobody is in."""

import contextlib
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from fairlead.cli.group_work import warn

if TYPE_CHECKING:
    from fairlead.core.model import MessageQueue, Position
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.positions import QueuePosition
    from fairlead.settings import Settings

__all__ = ["Asked", "ask_brokers", "offline_places"]

_GROUPS_MAX: Final = 200
"""So many groups' commits are asked for, a request each; serve does it for all."""
_LOOK_UP_MS_MAX: Final = 10_000


class Asked(NamedTuple):
    """What the brokers said.

    Attributes:
        at_ms: when.
        ends: the next offset to be written, of each queue.
        committed: group -> queue -> what it has committed in the present life of its topic.
        identities: of which life each topic is.
    """

    at_ms: int
    ends: "Mapping[MessageQueue, int]"
    committed: "Mapping[str, Mapping[MessageQueue, Position]]"
    identities: Mapping[str, str]


def ask_brokers(
    wanted: "Mapping[str, Iterable[MessageQueue]]", settings: "Settings"
) -> Asked | None:
    """Return how far groups are in these queues; None: there is nothing to ask.

    Where the brokers do not answer it is left out. Of too many groups the first ones are asked for,
    and how many are left is said.
    """
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.cli.logging_up import secrets_of
    from fairlead.kafka.connection import library_options
    from fairlead.logs import logs_configured
    from fairlead.serve.offset_poller import PolledTopics

    left = len(wanted) - _GROUPS_MAX
    if left > 0:
        wanted = dict([*wanted.items()][:_GROUPS_MAX])
        warn(f"the lag of {left} groups that tell nothing is not asked for (fairlead serve does)")
    if not wanted:
        return None
    kafka, at_ms = settings.kafka, time.time_ns() // 1_000_000
    data = DataCluster(kafka.bootstrap, timeout_ms=_LOOK_UP_MS_MAX, options=library_options(kafka))
    with contextlib.closing(data), logs_configured(secrets=secrets_of(kafka)):
        polled = PolledTopics(data)
        polled.read_ends(queue for queues in wanted.values() for queue in queues)
        committed = {group: polled.committed(group, queues) for group, queues in wanted.items()}
    return Asked(at_ms, polled.ends, committed, polled.identities)


def offline_places(
    standings: "Iterable[GroupStanding]", settings: "Settings"
) -> "dict[str, dict[MessageQueue, QueuePosition]]":
    """Return where the groups that nobody is in are, as far as the brokers say."""
    from fairlead.observed.positions import QueuePosition

    empty = {each.name: each for each in standings if not each.sharing and each.queues}
    asked = ask_brokers(
        {name: [one.queue for one in each.queues] for name, each in empty.items()}, settings
    )
    found: dict[str, dict[MessageQueue, QueuePosition]] = {}
    for name, positions in {} if asked is None else asked.committed.items():
        assert asked is not None, "there are positions"
        found[name] = {}
        for queue in empty[name].queues:
            told, end = queue.place, asked.ends.get(queue.queue)
            release, committed = empty[name].release, positions.get(queue.queue)
            if release is None:
                position = max(filter(None, (told.position, committed)), default=None)
            else:
                position = None if release.elsewhere else committed
            if end is not None and position is not None:
                by = told.told_by if position == told.position else "committed"
                found[name][queue.queue] = QueuePosition(
                    position, by, end, told.earliest, asked=True
                )
    return found
