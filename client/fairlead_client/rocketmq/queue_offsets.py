"""The offsets of a group at its brokers, and the bounds of queues: masters answer (ADR 0231)."""

from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from fairlead_client.model import Progress, Queue
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import (
    NoResponseError,
    RequestRefusedError,
    UnreadableFrameError,
)
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.session.clock import now_ms
from fairlead_client.settings.rocketmq_settings import RocketMQSettings

__all__ = ["QueueOffsets", "RocketMQOffsetStore"]


class QueueOffsets:
    """Asks brokers for the offsets of queues.

    Every method raises a RemotingError if the master refuses or does not answer, and a
    NoBrokerError if the broker has no master now.

    Args:
        brokers: the cluster.
        group: the group.
    """

    def __init__(self, brokers: Brokers, group: str) -> None:
        self._brokers = brokers
        self._group = group

    def committed(self, queue: Queue) -> int | None:
        """Return the group's committed offset (14); None: it has none.

        4.9 answers 0 without a commit if the queue's first message is still in memory.
        """
        fields = {
            **_fields(queue),
            "consumerGroup": self._group,
            "setZeroIfNotFound": "false",
        }
        try:
            return self._ask(queue, Command(RequestCode.QUERY_CONSUMER_OFFSET, fields))
        except RequestRefusedError as error:
            if error.code == ResponseCode.QUERY_NOT_FOUND:
                return None
            raise

    def begin(self, queue: Queue) -> int:
        """Return the queue's first offset (31)."""
        return self._ask(queue, Command(RequestCode.GET_MIN_OFFSET, _fields(queue)))

    def end(self, queue: Queue) -> int:
        """Return the next offset to be written (30)."""
        return self._ask(queue, Command(RequestCode.GET_MAX_OFFSET, _fields(queue)))

    def at_time(self, queue: Queue, timestamp_ms: int) -> int:
        """Return the offset of the first message stored at this time or later (29).

        4.9 returns the message nearest in time.
        """
        fields = {**_fields(queue), "timestamp": str(timestamp_ms), "boundaryType": "LOWER"}
        return self._ask(queue, Command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, fields))

    def begin_commit(self, queue: Queue, offset: int) -> "tuple[str, Future[Command]]":
        """Begin to commit an offset (15); return the master's address and the future answer."""
        fields = {
            **_fields(queue),
            "consumerGroup": self._group,
            "commitOffset": str(offset),
        }
        address = self._brokers.master(queue.broker_name, queue.topic)
        command = Command(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        return address, self._brokers.send(address, command)

    def _ask(self, queue: Queue, command: Command) -> int:
        address = self._brokers.master(queue.broker_name, queue.topic)
        said = self._brokers.call(address, command).fields.get("offset", "")
        try:
            return int(said)
        except ValueError:
            raise UnreadableFrameError(address, f"its answer has offset={said[:40]!r}") from None


class RocketMQOffsetStore:
    """Commits positions as offsets of RocketMQ's group of the same name, at the masters.

    An offset there is a number alone: the reset and the topic's identity stay with the engine.
    """

    def __init__(self, settings: RocketMQSettings, group: str) -> None:
        self._brokers = Brokers(settings)
        self._offsets = QueueOffsets(self._brokers, group)

    def commit(self, entries: Mapping[Queue, Progress], timeout_ms: int) -> None:
        """Commit all positions at once; raise the first error after all have ended.

        Raises:
            RemotingError: a master refuses, or does not answer in time.
            NoBrokerError: a broker has no master now.
        """
        ends_ms = now_ms() + timeout_ms
        first: Exception | None = None
        sent = []
        for queue, entry in entries.items():
            try:
                sent.append(self._offsets.begin_commit(queue, entry.position.offset))
            except Exception as error:  # noqa: BLE001 - the other positions are committed first
                first = first or error
        for address, answered in sent:
            try:
                _check(address, answered.result(max(0, ends_ms - now_ms()) / 1_000))
            except FutureTimeoutError:
                first = first or NoResponseError(address, f"no answer within {timeout_ms} ms")
            except Exception as error:  # noqa: BLE001 - the other answers come first
                first = first or error
        if first is not None:
            raise first

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()


def _check(address: str, response: Command) -> None:
    if response.code != ResponseCode.SUCCESS:
        raise RequestRefusedError(address, response.code, response.remark)


def _fields(queue: Queue) -> dict[str, str]:
    return {"topic": queue.topic, "queueId": str(queue.queue_id)}
