"""A bridge of the cluster ``main``, and its run in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge

__all__ = ["bridge_of", "running"]

_SECONDS_MAX: Final = 30.0


def bridge_of(bootstrap: str, prefix: str, *topics: str, poll_ms: int = 200) -> KafkaBridge:
    """Return a quick bridge; it publishes these topics, and whatever else somebody asks for."""
    return KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=prefix,
        cluster_name="main",
        topics=topics,
        times=BridgeTimes(poll_ms=poll_ms),
    )


@contextmanager
def running(bridge: Any) -> Iterator[None]:
    """Run a bridge in a thread while the block runs; an error of it is raised here."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            bridge.run(stop)
        except BaseException as error:  # noqa: BLE001 - handed over to the test
            failures.append(error)
            bridge.ready.set()

    thread = threading.Thread(target=work, name="bridge")
    thread.start()
    try:
        assert bridge.ready.wait(_SECONDS_MAX)
        if not failures:
            yield
    finally:
        stop.set()
        thread.join(_SECONDS_MAX)
    assert not thread.is_alive()
    if failures:
        raise failures[0]
