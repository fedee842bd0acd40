"""A member of a group of KIP-848: it heartbeats as a consumer does, and reads no messages."""

import uuid
from collections.abc import Sequence
from typing import Any

from kafka import KafkaAdminClient
from kafka.errors import CoordinatorNotAvailableError
from kafka.protocol.api_message import ApiMessage

from tests.kit.awaiting import await_seen

__all__ = ["ConsumerGroupHeartbeatRequest", "ConsumerGroupHeartbeatResponse", "Kip848Member"]


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json="tests.kit.kip848"):  # type: ignore[call-arg, misc]  # kafka ships no types
    """One heartbeat; the epoch 0 joins, −1 leaves."""


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json="tests.kit.kip848"):  # type: ignore[call-arg, misc]  # kafka ships no types
    """The epoch of the member, and the partitions that it shall have."""


_Owned = ConsumerGroupHeartbeatRequest.TopicPartitions


class Kip848Member:
    """A member; it owns what its last heartbeat said it has."""

    def __init__(self, bootstrap: str, group: str, topics: Sequence[str], client_id: str) -> None:
        self.group, self.topics = group, list(topics)
        self.member_id = str(uuid.uuid4())
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap, client_id=client_id)
        self._epoch = 0
        self._held: list[dict[str, Any]] = []
        await_seen(self._has_coordinator, what="a coordinator, which the first group brings about")

    def heartbeat(self) -> int:
        """Heartbeat once, and take over what the coordinator says; return the epoch."""
        joins = self._epoch == 0
        answer = self._send(self._epoch, self.topics if joins else None)
        self._epoch = answer["member_epoch"]
        if answer["assignment"] is not None:
            self._held = answer["assignment"]["topic_partitions"]
        return self._epoch

    def close(self) -> None:
        """Leave the group."""
        self._send(-1, None)
        self._admin.close()

    def _send(self, epoch: int, topics: Sequence[str] | None) -> dict[str, Any]:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=30_000 if epoch == 0 else -1,
            subscribed_topic_names=topics,
            topic_partitions=[_Owned(**each) for each in self._held] if epoch >= 0 else None,
            max_version=0,
        )

        async def ask() -> Any:
            node = await self._coordinator()
            return await self._admin._manager.send(request, node_id=node)  # noqa: SLF001

        answer: dict[str, Any] = self._admin._manager.run(ask).to_dict()  # noqa: SLF001
        assert answer["error_code"] == 0, answer
        return answer

    async def _coordinator(self) -> Any:
        nodes = await self._admin._find_coordinator_ids([self.group])  # noqa: SLF001 - no other way
        return nodes[self.group]

    def _has_coordinator(self) -> bool:
        try:
            self._admin._manager.run(self._coordinator)  # noqa: SLF001
        except CoordinatorNotAvailableError:
            return False
        return True
