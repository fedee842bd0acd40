"""Tells the engine whom the brokers list as the members of groups.

A look of a group asks every broker of its topics (203). The next one begins when Kafka has
confirmed that it is appended. So the engine knows by the order of looks alone when one was begun
(ADR 0245).
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import structlog
from fairlead_client.remoting.connections import Connections

from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.silent_servers import SilentServers
from fairlead.core.model import RouteBroker
from fairlead.core.standby_records import BrokerMembers, MembersLook
from fairlead.rocketmq.asking import Question, ask_all
from fairlead.rocketmq.group_connections import (
    GroupConnections,
    connections_request,
    connections_seen,
)
from fairlead.wire.encode import OversizeError
from fairlead.wire.encode_bridge import encode_members, withdraw_members
from fairlead.wire.raw import OutgoingRecord
from fairlead.wire.texts import CLIENT_ID
from fairlead.wire.topics import TopicNames

__all__ = ["GROUPS_MAX", "MemberLooks"]

GROUPS_MAX: Final = 1_000
"""The most groups that are looked at; above it the one asked for longest ago is forgotten."""
_LOOK_MS: Final = 1_000
_REPEAT_MS: Final = 4_000
"""A look without news is written after this time: the engine expects one every 5 s."""
_FORGET_MS: Final = 600_000
_SHOWN_MAX: Final = 200

log = structlog.get_logger(__name__)

_Brokers = tuple[BrokerMembers, ...]


@dataclass(slots=True)
class _Wanted:
    """A group that the engine asks about.

    ``row`` names its looks, up to a withdrawal. ``told`` is the newest one, ``is_news``: it differs
    from the one before. ``unsure``: its record, while nobody knows whether Kafka has it.
    """

    topics: set[str] = field(default_factory=set)
    asked_at_ms: int = 0
    row: str = field(default_factory=lambda: str(uuid.uuid4()))
    told: tuple[bool, _Brokers] | None = None
    told_at_ms: int = 0
    is_news: bool = False
    unsure: OutgoingRecord | None = None


class MemberLooks:
    """The groups whose members the engine wants to know.

    Args:
        cluster: the cluster's name.
        connections: to the brokers.
        silent: brokers that are not asked.
        published: the routes, which name the brokers of topics.
        control: Fairlead's topics.
        names: their names.
        timeout_s: how long an answer may take, in seconds.
        now: the time in seconds since 1970.
    """

    def __init__(
        self,
        cluster: str,
        *,
        connections: Connections,
        silent: SilentServers,
        published: RocketMQRouteBook,
        control: ControlTopics,
        names: TopicNames,
        timeout_s: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._cluster = cluster
        self._connections, self._silent = connections, silent
        self._published = published
        self._control, self._names = control, names
        self._timeout_s = timeout_s
        self._now = now
        self._wanted: dict[str, _Wanted] = {}
        self._look = 0
        self._next_at_ms = 0

    def want(self, group: str, topic: str, *, now_ms: int) -> None:
        """Note that the engine asks who is in a group that reads this topic."""
        wanted = self._wanted.pop(group, None) or _Wanted()
        self._wanted[group] = wanted
        if not wanted.topics:
            self._next_at_ms = now_ms
        wanted.topics.add(topic)
        wanted.asked_at_ms = now_ms
        if len(self._wanted) > GROUPS_MAX:
            self._forget(next(iter(self._wanted)))

    def _forget(self, group: str) -> None:
        """Tell nothing of a group any more, and withdraw the last look."""
        wanted = self._wanted.pop(group, None)
        if wanted is not None and wanted.told is not None:
            record = withdraw_members(self._cluster, group, self._names)
            self._control.write([record], answers=False)

    def work(self, *, now_ms: int) -> None:
        """Look once a second, and write what is new or old enough.

        What Kafka has not confirmed is written again, and no other look of its group begins before:
        Kafka may append it at any later time.
        """
        if not self._wanted or now_ms < self._next_at_ms:
            return
        self._next_at_ms = now_ms + _LOOK_MS
        for group in [
            group for group, each in self._wanted.items() if now_ms - each.asked_at_ms > _FORGET_MS
        ]:
            self._forget(group)
        self._write(self._wanted)
        brokers = {
            group: self._brokers(each.topics)
            for group, each in self._wanted.items()
            if each.unsure is None
        }
        for group, (complete, seen) in self._ask(brokers).items():
            self._note(group, self._wanted[group], complete=complete, seen=seen, now_ms=now_ms)
        self._write(brokers)

    def _brokers(self, topics: set[str]) -> dict[str, str]:
        """Return broker name -> address of those that have one of these topics."""
        routes = (self._published.own_route(topic) for topic in topics)
        return {
            broker.broker_name: _address(broker)
            for route in routes
            if route is not None
            for broker in route.brokers
            if broker.addresses
        }

    def _ask(self, brokers: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[bool, _Brokers]]:
        """Return group -> whether all its brokers answered, and whom they list."""
        places = [
            (group, name, address)
            for group, of_group in brokers.items()
            for name, address in self._silent.without(of_group).items()
        ]
        questions = [Question(address, connections_request(group)) for group, _, address in places]
        answers = ask_all(self._connections, questions, self._timeout_s)
        found: dict[str, dict[str, tuple[str, ...]]] = {group: {} for group in brokers}
        for (group, name, address), answer in zip(places, answers, strict=True):
            seen = connections_seen(address, answer)
            if isinstance(seen, GroupConnections):
                found[group][name] = _members(seen)
            else:
                self._silent.note_answer(address, seen)
        return {
            group: (
                found[group].keys() == of_group.keys(),
                tuple(BrokerMembers(*each) for each in sorted(found[group].items())),
            )
            for group, of_group in brokers.items()
            if of_group
        }

    def _note(
        self, group: str, wanted: _Wanted, *, complete: bool, seen: _Brokers, now_ms: int
    ) -> None:
        """Note what is to be written of a look; nothing of one without news that is too early."""
        is_news = wanted.told != (complete, seen)
        if not is_news and now_ms - wanted.told_at_ms < _REPEAT_MS:
            return
        self._look += 1
        at_ms = int(self._now() * 1_000)
        look = MembersLook(group, self._cluster, wanted.row, self._look, complete, seen, at_ms)
        try:
            wanted.unsure = encode_members(look, self._names)
        except OversizeError as error:
            if is_news:
                log.warning("members_not_told", group=group, error=str(error))
        wanted.told, wanted.told_at_ms, wanted.is_news = (complete, seen), now_ms, is_news

    def _write(self, groups: Iterable[str]) -> None:
        """Write what these groups' looks have found; see what Kafka has confirmed."""
        records = {
            group: record for group in groups if (record := self._wanted[group].unsure) is not None
        }
        written = self._control.write([*records.values()], answers=False)
        for group, is_written in zip(records, written, strict=True):
            wanted = self._wanted[group]
            if not is_written or wanted.told is None:
                continue
            wanted.unsure = None
            if wanted.is_news:
                complete, seen = wanted.told
                count = len({member for _, members in seen for member in members})
                log.info("members_told", group=group, members=count, complete=complete)


def _address(broker: RouteBroker) -> str:
    """Return the address of a broker with the lowest id: consumers also know a slave alone."""
    return broker.addresses[min(broker.addresses, key=int)]


def _members(seen: GroupConnections) -> tuple[str, ...]:
    """Return whom a broker lists, in order."""
    ids = Counter(each.client_id for each in seen.connections)
    listed = {_told(each) for each in ids}
    # One of two clients with one id may be attached, and the other read as RocketMQ shares.
    listed |= {_stand_in(each, "twin") for each, times in ids.items() if times > 1}
    return tuple(sorted(listed))


def _told(client_id: str) -> str:
    """Return an id as a record can carry it; whoever is left out would read unseen."""
    if CLIENT_ID.allows(client_id):
        return client_id
    digest = sha256(client_id.encode("utf-8", "surrogatepass")).hexdigest()
    return _stand_in(client_id, digest[:16])


def _stand_in(client_id: str, word: str) -> str:
    """Return what stands for a client that no member can be."""
    shown = "".join(each if CLIENT_ID.allows(each) else "?" for each in client_id)
    return f"{shown[:_SHOWN_MAX]}#{word}"
