"""Who leads which partition, asked of the brokers while one of them is broken."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self

from kafka import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from fairlead_proof.demo.script import StepError

__all__ = ["LeaderWatch"]

_LOOK_SECONDS: Final = 0.1
_LEADERS_SECONDS_MAX: Final = 60.0
_ANSWER_MS: Final = 1_000


class _Avoiding(KafkaConnectionManager):  # type: ignore[misc]  # it has no types
    """Asks any broker but one: that it does not answer must not look like a late election."""

    avoided: int | None = None

    def least_loaded_node(self) -> Any:
        """Return the node to ask next; None: there is none at the moment."""
        others = [
            broker.node_id
            for broker in self.cluster.brokers()
            if broker.node_id != self.avoided and self.connection_delay(broker.node_id) == 0
        ]
        known = [node for node in others if node in self._conns]
        return next(iter(known or others), None)


class LeaderWatch:
    """Asks the brokers who leads what; as a context it closes its connection on exit."""

    def __init__(self, bootstrap: str, topics: Sequence[str]) -> None:
        """Describe it: ``topics`` are those that are looked at."""
        self._bootstrap = bootstrap
        self._topics = topics
        self._admin: KafkaAdminClient | None = None
        self._manager: _Avoiding | None = None
        self._avoided: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Connects when it is first asked."""
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def leader(self, topic: str, partition: int) -> int:
        """Return who leads a partition."""
        return next(
            int(found["leader_id"])
            for name, found in self._partitions()
            if name == topic and found["partition_index"] == partition
        )

    def controller(self) -> int:
        """Return which node is the active controller.

        Raises:
            StepError: nobody tells.
        """
        answer = self._ask(lambda admin: admin.describe_metadata_quorum())
        quorum = answer["topics"][0]["partitions"][0]
        return int(quorum["leader_id"])

    @contextlib.contextmanager
    def replacing(self, node: int) -> Iterator[Callable[[], int]]:
        """Watch from now on until others have replaced a node, on a thread.

        From now on, and until the copies are whole, that node is not asked: back from a freeze it
        says for a while what it knew before.

        Yields:
            waits for that, and returns the last moment at which it was not so, in milliseconds
            since 1970: what is measured from it on is not too short.
        """
        done, ended = threading.Event(), threading.Event()
        last = [_now_ms()]

        def check_leaders() -> None:
            while not ended.is_set():
                at_ms = _now_ms()
                with contextlib.suppress(StepError):
                    if not any(_needs(found, node) for _, found in self._partitions()):
                        done.set()
                        return
                    last[0] = at_ms
                ended.wait(_LOOK_SECONDS)

        def leaders_ms() -> int:
            if not done.wait(_LEADERS_SECONDS_MAX):
                raise StepError(f"nobody replaced broker {node} in {_LEADERS_SECONDS_MAX:.0f} s.")
            return last[0]

        thread = threading.Thread(target=check_leaders, name="leaders", daemon=True)
        self._avoid(node)
        thread.start()
        try:
            yield leaders_ms
        finally:
            ended.set()
            thread.join()

    def await_whole(self) -> None:
        """Return when every partition has all its copies in step; who was out is not asked.

        Raises:
            StepError: it takes too long.
        """
        deadline = time.monotonic() + _LEADERS_SECONDS_MAX
        while time.monotonic() < deadline:
            with contextlib.suppress(StepError):
                if all(_is_whole(found) for _, found in self._partitions()):
                    self._avoid(None)
                    return
            time.sleep(_LOOK_SECONDS)
        raise StepError(f"copies were not in step again in {_LEADERS_SECONDS_MAX:.0f} s.")

    def _partitions(self) -> list[tuple[str, dict[str, Any]]]:
        described = self._ask(lambda admin: admin.describe_topics([*self._topics]))
        return [(topic["name"], found) for topic in described for found in topic["partitions"]]

    def _ask(self, question: Callable[[KafkaAdminClient], Any]) -> Any:
        with self._lock:
            try:
                if self._admin is None:
                    self._admin = KafkaAdminClient(
                        bootstrap_servers=self._bootstrap,
                        request_timeout_ms=_ANSWER_MS,
                        kafka_client=self._network,
                        bootstrap_timeout_ms=2 * _ANSWER_MS,
                        reconnect_backoff_max_ms=_ANSWER_MS,
                    )
                return question(self._admin)
            except KafkaError as error:
                self._close()
                raise StepError(f"the brokers do not tell who leads ({error}).") from error

    def _network(self, **given: Any) -> KafkaNetClient:
        net = NetworkSelector(**given)
        self._manager = _Avoiding(net, **given)
        self._manager.avoided = self._avoided
        return KafkaNetClient(net, self._manager, **given)

    def _avoid(self, node: int | None) -> None:
        self._avoided = node
        if self._manager is not None:
            self._manager.avoided = node

    def _close(self) -> None:
        admin, self._admin = self._admin, None
        if admin is not None:
            with contextlib.suppress(KafkaError):
                admin.close()


def _needs(partition: dict[str, Any], node: int) -> bool:
    """Tell whether a partition is led by this node, or by nobody, or waits for its copy."""
    return partition["leader_id"] in (node, -1) or node in partition["isr_nodes"]


def _is_whole(partition: dict[str, Any]) -> bool:
    return partition["leader_id"] >= 0 and len(partition["isr_nodes"]) == len(
        partition["replica_nodes"]
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
