"""Looks at all consumer groups of a Kafka cluster: it asks, and never joins nor commits.

Decides what one look costs: for each coordinator a few requests for all its groups, for each leader
one request for `640` ends, whatever the number of members.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog
from fairlead_client.session.topic_names import named_topic
from kafka import KafkaAdminClient
from kafka.errors import for_code
from kafka.protocol.admin import DescribeGroupsRequest

from fairlead.bridges.kafka.data_cluster import DataCluster, LookUpError
from fairlead.bridges.kafka.snapshot import TopicSeen
from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError
from fairlead.native.cluster_look import ClusterLook
from fairlead.native.group_look import GroupLook, Kind, queue_looks
from fairlead.native.kafka_description import Described, classic_group, kip848_group
from fairlead.native.kafka_messages.group_description import ConsumerGroupDescribeRequest

__all__ = ["KafkaGroups"]

_TOGETHER: Final = 100
"""Groups per request."""
_AT_REST: Final = frozenset(("Stable", "Empty", "Dead"))
_KIP848: Final = "consumer"

log = structlog.get_logger(__name__)

_PROTOCOLS: Final = (
    (DescribeGroupsRequest, classic_group),
    (ConsumerGroupDescribeRequest, kip848_group),
)

_Offsets = dict[MessageQueue, int]


class KafkaGroups:
    """The groups of one cluster; each look asks anew.

    Args:
        data: the cluster.
        broker_name: what its queues are called; None: the cluster's id.
    """

    kind: Kind = "kafka"

    def __init__(self, data: DataCluster, broker_name: str | None = None) -> None:
        self._data = data
        self._broker_name = broker_name

    def look(self, wanted: Callable[[str], bool]) -> ClusterLook:
        """Look at the groups for whose names ``wanted`` is true.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        if self._broker_name is None:
            self._broker_name = self._data.cluster_id()
        try:
            listed = self._data.ask("groups", lambda admin: admin.list_groups())
        except LookUpError as error:
            raise self._data.unanswered("it did not list its groups", error) from error
        kinds = {
            each["group_id"]: each.get("group_type") or "classic"
            for each in listed
            # Groups of Kafka Connect and of queues (KIP-932) share out no partitions of topics.
            if each["protocol_type"] in ("", "consumer")
            and each.get("group_type") in (None, "", "classic", _KIP848, "unknown")
            and wanted(each["group_id"])
        }
        names = sorted(kinds)
        described = self._described(names, kinds)
        committed = self._committed(names)
        return ClusterLook(self._looks(names, kinds, described, committed))

    def close(self) -> None:
        """Close the connections."""
        self._data.close()

    def _looks(
        self,
        names: Sequence[str],
        kinds: Mapping[str, str],
        described: Mapping[str, Described],
        committed: Mapping[str, _Offsets | None],
    ) -> tuple[GroupLook, ...]:
        topics = {
            topic
            for each in described.values()
            for one in each.members
            for topic in one.topics or ()
        }
        topics |= {queue.topic for held in committed.values() for queue in held or ()}
        ends, known = self._ends(sorted(topics))
        looks = []
        for name in names:
            group = described.get(name) or Described(
                "unknown", None, None, (), "it is not described"
            )
            offsets = committed.get(name)
            unread = [] if group.unread is None else [group.unread]
            if offsets is None:
                unread.append("its commits are not told")
            topics = {topic for one in group.members for topic in one.topics or ()}
            read = topics | {queue.topic for queue in offsets or ()}
            mine = [queue for topic in read for queue in known.get(topic, ())]
            there = set(mine)
            # A commit in a partition that is no more says nothing.
            kept = {each: at for each, at in (offsets or {}).items() if each in there}
            looks.append(
                GroupLook(
                    group=name,
                    kind=self.kind,
                    protocol="consumer" if kinds[name] == _KIP848 else "classic",
                    shares=True,
                    state=group.state,
                    settled=group.state in _AT_REST,
                    assignors=(group.assignor,) if group.assignor else (),
                    generation=group.generation,
                    members=group.members,
                    queues=queue_looks(group.members, mine, kept, ends),
                    topics=frozenset(topics),
                    unread=tuple(unread),
                )
            )
        return tuple(looks)

    def _described(self, names: Sequence[str], kinds: Mapping[str, str]) -> dict[str, Described]:
        assert self._broker_name is not None, "a look begins with the cluster's name"
        found: dict[str, Described] = {}
        for request, make in _PROTOCOLS:
            new = request is ConsumerGroupDescribeRequest
            chosen = [each for each in names if (kinds[each] == _KIP848) == new]
            for group in self._asked("members", chosen, partial(_describe, request)):
                if not group["error_code"]:
                    found[group["group_id"]] = make(group, self._broker_name)
                else:
                    why = for_code(group["error_code"]).__name__
                    found[group["group_id"]] = Described("unknown", None, None, (), why)
        return found

    def _committed(self, names: Sequence[str]) -> dict[str, _Offsets | None]:
        """Return what each group committed; None: nobody says."""
        assert self._broker_name is not None, "a look begins with the cluster's name"
        found: dict[str, _Offsets | None] = dict.fromkeys(names)

        def ask(some: Sequence[str]) -> Any:
            return lambda admin: [*admin.list_group_offsets([*some]).items()]

        for name, offsets in self._asked("commits", names, ask):
            found[name] = {
                MessageQueue(named_topic(key.topic), self._broker_name, key.partition): value.offset
                for key, value in offsets.items()
                if value.offset >= 0
            }
        return found

    def _ends(self, topics: Sequence[str]) -> tuple[_Offsets, dict[str, list[MessageQueue]]]:
        """Return the end of each queue of these topics, and their queues."""
        assert self._broker_name is not None, "a look begins with the cluster's name"
        leaders: dict[str, dict[int, int]] = {}
        known: dict[str, list[MessageQueue]] = {}
        for seen in self._data.look_at(topics).looks if topics else ():
            if isinstance(seen, TopicSeen):
                numbers = range(len(seen.leaders))
                known[seen.topic] = [
                    MessageQueue(seen.topic, self._broker_name, n) for n in numbers
                ]
                leaders[seen.topic] = {
                    number: leader
                    for number, leader in enumerate(seen.leaders)
                    if leader is not None
                }
        ends = {
            MessageQueue(topic, self._broker_name, number): end
            for topic, held in (self._data.ends(leaders) if leaders else {}).items()
            for number, end in held.items()
        }
        return ends, known

    def _asked(self, what: str, names: Sequence[str], ask: Any) -> Iterable[Any]:
        """Yield the answers about some groups; one refused group spoils only its own answer.

        kafka-python raises over the first group that a coordinator refuses: halves are asked again.
        """
        for begin in range(0, len(names), _TOGETHER):
            waiting = [names[begin : begin + _TOGETHER]]
            while waiting:
                some = waiting.pop()
                try:
                    yield from self._data.ask(what, ask(some))
                except (LookUpError, EnvironmentMissingError) as error:
                    if len(some) == 1:
                        log.warning("look_up_failed", group=some[0], error=str(error))
                        continue
                    middle = len(some) // 2
                    waiting += [some[middle:], some[:middle]]


def _describe(request: Any, names: Sequence[str]) -> Any:
    """Return the question for groups, by the request of their protocol."""

    def ask(admin: KafkaAdminClient) -> list[Mapping[str, Any]]:
        # kafka-python's describe_groups decodes what members wrote, and raises over a hostile one;
        # of the new protocol's question it knows nothing. Both go through its own connections.
        manager = admin._manager  # noqa: SLF001 - it has no public way to send a request

        async def send() -> list[Mapping[str, Any]]:
            nodes = await admin._find_coordinator_ids([*names])  # noqa: SLF001 - as above
            found: list[Mapping[str, Any]] = []
            for node in sorted(set(nodes.values())):
                mine = [each for each in names if nodes[each] == node]
                answer = await manager.send(request(mine), node_id=node)
                found += map(_plain, answer.groups)
            return found

        answers: list[Mapping[str, Any]] = manager.run(send)
        return answers

    return ask


def _plain(group: Any) -> dict[str, Any]:
    """Return a described group as plain values; bytes stay bytes."""
    members = [
        {
            **each.to_dict(),
            **{
                name: bytes(getattr(each, name) or b"")
                for name in ("member_metadata", "member_assignment")
                if hasattr(each, name)
            },
        }
        for each in group.members
    ]
    return {**group.to_dict(), "members": members}
