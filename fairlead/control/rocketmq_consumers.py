"""A group of RocketMQ's own consumers: its members and its positions.

A broker takes a commit whoever works in the group, so who commits looks at the members first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import RemotingError, RequestRefusedError

from fairlead.bridges.kafka.native_group import NativeGroup, NativeMember
from fairlead.control.queue_place import QueuePlace
from fairlead.control.rocketmq_plane import RocketMQPlane
from fairlead.core.model import MessageQueue, Position
from fairlead.errors import RefusedError
from fairlead.rocketmq.answer_reading import body_of, table_of
from fairlead.rocketmq.asking import Question
from fairlead.rocketmq.group_connections import connections_request, connections_seen
from fairlead.rocketmq.group_offsets import committed_offsets, offset_table_request
from fairlead.rocketmq.queue_offsets import commit_request

__all__ = ["RocketMQConsumers"]

_MODES = Command(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)


@dataclass(frozen=True, slots=True)
class RocketMQConsumers:
    """One group of native consumers; every method asks the cluster."""

    plane: RocketMQPlane
    group: str

    def read_members(self) -> NativeGroup:
        """Return whom any broker lists (203).

        A client that died is listed until its connection ends; one that froze, for two minutes.

        Raises:
            EnvironmentMissingError: a broker does not answer: it may list others.
        """
        addresses = {
            name: by_id[min(by_id)] for name, by_id in self.plane.brokers().addresses.items()
        }
        questions = [Question(each, connections_request(self.group)) for each in addresses.values()]
        members: set[NativeMember] = set()
        for name, answer in zip(addresses, self.plane.ask(questions), strict=True):
            seen = connections_seen(addresses[name], answer)
            if isinstance(seen, RemotingError):
                raise self.plane.unanswered(f"{name} did not say who is in {self.group}")
            members.update(
                NativeMember(each.client_id, each.client_id, each.address)
                for each in seen.connections
            )
        return NativeGroup("Stable" if members else "Empty", tuple(sorted(members)))

    def topics(self) -> list[str]:
        """Return the topics in which it has committed anything.

        Raises:
            RefusedError: its consumers share messages, and not queues.
            EnvironmentMissingError: a broker does not answer.
        """
        self._refuse_pop()
        return self.plane.committed_topics(self.group)

    def positions(self, places: Iterable[QueuePlace]) -> dict[MessageQueue, int]:
        """Return its position in each queue; a queue without a commit has no entry.

        Raises:
            EnvironmentMissingError: a broker does not answer.
        """
        asked = {place.queue for place in places}
        return {
            queue: offset
            for broker, answer in self.plane.ask_masters(offset_table_request())
            for (topic, whose), offsets in committed_offsets(answer).items()
            if whose == self.group
            for number, offset in offsets.items()
            if (queue := MessageQueue(topic, broker, number)) in asked
        }

    def commit(
        self, positions: Mapping[MessageQueue, tuple[QueuePlace, Position]]
    ) -> dict[MessageQueue, str | None]:
        """Commit where it shall go on; make the group on brokers that do not know it.

        Returns:
            Per queue the reason of a refusal; None: the commit stands.
        """
        masters = self.plane.masters()
        refusals: dict[MessageQueue, str | None] = {
            queue: f"the name servers know no broker {queue.broker_name}"
            for queue in positions
            if queue.broker_name not in masters
        }
        wanted = [queue for queue in positions if queue.broker_name in masters]
        for again in (False, True):
            questions = [
                Question(
                    masters[queue.broker_name],
                    commit_request(self.group, queue, positions[queue][1].offset),
                )
                for queue in wanted
            ]
            answers = dict(zip(wanted, self.plane.ask(questions), strict=True))
            refusals |= {
                queue: str(answer) if isinstance(answer, RemotingError) else None
                for queue, answer in answers.items()
            }
            wanted = [
                queue
                for queue, answer in answers.items()
                if isinstance(answer, RequestRefusedError)
                and answer.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
            ]
            if again or not wanted:
                break
            self._make_group({masters[queue.broker_name] for queue in wanted})
        return refusals

    def _make_group(self, addresses: Iterable[str]) -> None:
        """Make the group, as its first consumer would: brokers of 5.3 need it for a commit."""
        made = Command(
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
            body=orjson.dumps({"groupName": self.group}),
        )
        self.plane.ask([Question(address, made) for address in addresses])

    def _refuse_pop(self) -> None:
        """Refuse a group whose consumers pop messages, so that nobody owns a queue (402).

        Brokers of 4.x know no such thing, and do not know the question.

        Raises:
            RefusedError: an operator has set that mode for one of its topics (401).
        """
        questions = [Question(each, _MODES) for each in self.plane.masters().values()]
        for answer in self.plane.ask(questions):
            if isinstance(answer, RemotingError):
                continue
            modes = table_of(body_of(answer, "request modes"), "messageRequestModeMap")
            popped = sorted(
                str(topic)
                for topic, by_group in modes.items()
                if (by_group.get(self.group) or {}).get("mode") == "POP"
            )
            if popped:
                raise RefusedError(
                    f"{self.group}: its consumers pop messages of {', '.join(popped)}: they share "
                    "messages, and nobody owns a queue.",
                    remedy="Set the mode PULL first (mqadmin setConsumeMode -m PULL), or leave "
                    "the group to RocketMQ.",
                )
