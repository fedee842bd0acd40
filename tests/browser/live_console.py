"""A console of a live system: broker, engine, bridge, consumers as processes, and serve."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fairlead.broker.ports import free_ports
from tests.browser import member
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.kit.live_system import BridgedSystem, bridged
from tests.kit.serve_process import Served, serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["GROUP", "QUEUES", "LiveConsole", "live_console"]

GROUP: Final = "orders"
QUEUES: Final = 8


class LiveConsole:
    """A group of consumer processes, and the serve that tells of it.

    Attributes:
        system: engine, bridge and topic.
        served: the serve process of now.
    """

    def __init__(self, system: BridgedSystem, folder: Path) -> None:
        self.system = system
        self._folder = folder
        self._port = free_ports(1)[0]
        self._members: dict[str, subprocess.Popen[bytes]] = {}
        self._serving = contextlib.ExitStack()
        self.served = self._serve()

    @property
    def url(self) -> str:
        """The address of the console; it stays when serve is started anew."""
        return f"http://127.0.0.1:{self._port}"

    def _serve(self) -> Served:
        kafka = self.system.settings.kafka
        place = (self._folder, kafka.bootstrap, kafka.topic_prefix)
        served = self._serving.enter_context(serving(*place, port=self._port))
        served.wait("/readyz", 200)
        return served

    def stop_serve(self) -> None:
        """Kill serve."""
        self._serving.close()

    def start_serve(self) -> None:
        """Start another one at the same address, and wait until it is ready."""
        self.served = self._serve()

    def start(self, client_id: str) -> None:
        """Start a consumer."""
        kafka = self.system.settings.kafka
        place = [kafka.bootstrap, kafka.topic_prefix, GROUP, self.system.topic, client_id]
        self._members[client_id] = subprocess.Popen([sys.executable, member.__file__, *place])

    def kill(self, client_id: str) -> None:
        """Kill a consumer by the signal that no process hears (kill -9)."""
        process = self._members.pop(client_id)
        process.kill()
        process.wait(LONGEST_SECONDS)

    def owners(self) -> dict[int, str | None]:
        """Return queue id -> owner, as serve tells it."""
        queues = self.served.wait(f"/api/v1/groups/{GROUP}", 200)["queue_list"]
        return {each["queue"][2]: each["owner"] for each in queues}

    def await_owners(self, *client_ids: str) -> None:
        """Wait until these consumers, and no other, own all queues."""

        def wanted(owners: dict[int, str | None]) -> bool:
            return len(owners) == QUEUES and {*owners.values()} == {*client_ids}

        await_seen(self.owners, wanted, what=f"queues with {client_ids}", seconds=LONGEST_SECONDS)

    def settle_for(self, seconds: float) -> None:
        """Let the system go on for a while, so that a picture has some history."""
        deadline = time.monotonic() + seconds
        await_seen(time.monotonic, lambda now: now > deadline, what="end", seconds=seconds + 1)

    def await_owned(self, client_id: str) -> None:
        """Wait until a consumer owns a queue."""
        await_seen(
            self.owners,
            lambda owners: client_id in owners.values(),
            what=f"queue of {client_id}",
            seconds=LONGEST_SECONDS,
        )

    def close(self) -> None:
        """End everything."""
        for client_id in list(self._members):
            self.kill(client_id)
        self.stop_serve()


@contextlib.contextmanager
def live_console(
    spark: "SparkSession", bootstrap: str, folder: Path, topic: str | None = None
) -> Iterator[LiveConsole]:
    """Run it while the context is open, with three consumers that own all queues."""
    with bridged(
        spark,
        bootstrap,
        folder,
        queues=QUEUES,
        topic=topic,
        group_defaults__lease_ms=member.LEASE_MS,
    ) as system:
        console = LiveConsole(system, folder)
        try:
            for name in "abc":
                console.start(f"consumer-{name}")
            console.served.wait(f"/api/v1/groups/{GROUP}", 200)
            console.await_owners("consumer-a", "consumer-b", "consumer-c")
            yield console
        finally:
            console.close()
