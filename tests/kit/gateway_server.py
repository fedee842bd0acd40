"""A gateway of `fairlead serve` in this process, over topics that exist."""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.broker.ports import free_ports
from fairlead.serve.process import run_serve
from fairlead.settings import load_settings
from tests.kit.awaiting import await_seen, ended

__all__ = ["Transport", "gateway_serving"]

_OF_GATEWAY: Final = ("heartbeat_ms", "lease_ms")


class Transport(NamedTuple):
    """How the clients of a test take part: by Fairlead's topics, or through a gateway."""

    bootstrap: str
    prefix: str
    gateway: str | None

    def settings(self, **given: Any) -> dict[str, Any]:
        """Return the settings of a client; a gateway decides the times of heartbeats itself.

        No engine of a test by hand answers a leave, so nobody hands over unless a test says so.
        """
        place: dict[str, Any] = {"bootstrap": self.bootstrap, "hand_over_ms": 0}
        if self.gateway is None:
            return {**place, "prefix": self.prefix, **given}
        own = {name: value for name, value in given.items() if name not in _OF_GATEWAY}
        return {**place, "gateway": self.gateway, **own}


@contextlib.contextmanager
def gateway_serving(
    bootstrap: str, prefix: str, *, port: int | None = None, **settings: Any
) -> Iterator[str]:
    """Serve while the context is open; yield the URL, once it has read the topics."""
    at = free_ports(1)[0] if port is None else port
    chosen = load_settings(
        overrides={
            "kafka.bootstrap": bootstrap,
            "kafka.topic_prefix": prefix,
            "serve.port": at,
            "gateway.enabled": True,
            **{name.replace("__", "."): value for name, value in settings.items()},
        }
    )
    data = DataCluster(bootstrap, timeout_ms=10_000, options={})
    stop = threading.Event()
    thread = threading.Thread(target=run_serve, args=(chosen, data, stop), name="test-gateway")
    thread.start()
    try:
        if chosen.tls.certfile is None:
            _await_ready(at)
        yield f"{'http' if chosen.tls.certfile is None else 'https'}://127.0.0.1:{at}"
    finally:
        stop.set()
        ended(thread)


def _await_ready(port: int) -> None:
    """Wait until it has read the topics: until then it refuses every join with 503."""

    def ready() -> int:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status
            except OSError:
                return 0

    await_seen(ready, lambda status: status == HTTPStatus.OK, what="ready gateway", pause=0.02)
