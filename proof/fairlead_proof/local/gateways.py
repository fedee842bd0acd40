"""Gateways of a local system behind a TCP balancer: killed, and started again at their ports."""

import contextlib
import secrets
import time
import urllib.request
from types import TracebackType
from typing import Final, Self

from fairlead.broker.ports import free_ports
from fairlead.errors import EnvironmentMissingError
from fairlead_proof.local.child import Child, Killing
from fairlead_proof.local.system import LocalSystem
from fairlead_proof.local.tcp_balancer import TcpBalancer

__all__ = ["Gateways"]

_READY_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.1


class Gateways:
    """Several `fairlead serve` with the gateway, one key and one balancer; ended with the context.

    Args:
        system: whose topics they read and write.
        count: how many.
    """

    def __init__(self, system: LocalSystem, count: int) -> None:
        self._system = system
        self._ports = free_ports(count)
        self._key = system.plan.folder / "gateway-key"
        self._key.write_text(secrets.token_hex(32), encoding="ascii")
        self._key.chmod(0o400)
        self._balancer = TcpBalancer(self._ports)
        self._children: dict[int, Child] = {}

    @property
    def url(self) -> str:
        """Where clients poll: the balancer."""
        return f"http://127.0.0.1:{self._balancer.port}"

    @property
    def numbers(self) -> range:
        """The gateways' numbers."""
        return range(len(self._ports))

    def __enter__(self) -> Self:
        """Start all of them; `await_ready` says when they answer."""
        self._balancer.__enter__()
        for number in self.numbers:
            self.start(number)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all of them."""
        for child in self._children.values():
            child.kill()
        self._balancer.__exit__(kind, error, trace)

    def start(self, number: int) -> None:
        """Start a gateway, again if need be. Call it on the main thread."""
        own = {
            "gateway.enabled": "true",
            "gateway.name": f"gateway-{number}",
            "gateway.key_file": str(self._key),
            "serve.port": str(self._ports[number]),
        }
        self._children[number] = self._system.fairlead(f"gateway-{number}", "serve", settings=own)

    def kill(self, number: int) -> Killing:
        """SIGKILL, in the middle of whatever it does."""
        return self._children[number].kill()

    def await_ready(self, number: int) -> None:
        """Return when a gateway has read the log.

        Raises:
            EnvironmentMissingError: it died, or was not ready in time.
        """
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            self.check()
            with contextlib.suppress(OSError):
                place = f"http://127.0.0.1:{self._ports[number]}/readyz"
                with urllib.request.urlopen(place, timeout=1):
                    return
            time.sleep(_LOOK_SECONDS)
        log = self._children[number].log
        raise EnvironmentMissingError(
            f"gateway: not ready in {_READY_SECONDS:.0f} s.", remedy=f"Read {log}."
        )

    def check(self) -> None:
        """Make sure that all of them run.

        Raises:
            EnvironmentMissingError: one died by itself.
        """
        for child in self._children.values():
            if child.exit_code is not None:
                raise EnvironmentMissingError(
                    f"{child.name}: it ended with code {child.exit_code}. Its log ends:\n"
                    f"{child.log_tail()}",
                    remedy=f"Read {child.log}.",
                )
