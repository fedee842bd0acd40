"""The script of a group whose clients in part take part through gateways, which are killed."""

import random
from collections.abc import Callable

from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.judge import STEPS
from fairlead_proof.demo.script import Follower, Script, System
from fairlead_proof.local.gateways import Gateways

__all__ = ["GATEWAY_STEPS", "GatewayScript", "language_of", "uses_gateway"]

LATE = "c10"
"""Who joins while the gateways are killed."""
_LANGUAGES = {"c2": "Node", "c5": "Java", "c6": "Node", "c9": "Java"}
GATEWAY_STEPS = (*STEPS[:-1], "gateway_kill", STEPS[-1])
"""The steps of the script."""


def uses_gateway(client_id: str) -> bool:
    """Tell whether a client takes part through the gateways: half do, of each kind of consumer."""
    return int(client_id.removeprefix("c")) % 4 in (1, 2)


def language_of(client_id: str) -> str:
    """Return in which language a client is written, where its consumer can be prepared."""
    return _LANGUAGES.get(client_id, "Python")


class GatewayScript(Script):
    """The demo's script, and the death of both gateways while a handover is open."""

    def __init__(
        self,
        fleet: Fleet,
        follower: Follower,
        system: System,
        chance: random.Random,
        *,
        gateways: Gateways,
    ) -> None:
        """Describe it; ``gateways`` are killed."""
        super().__init__(fleet, follower, system, chance)
        self._gateways = gateways

    def acts(self) -> tuple[Callable[[], None], ...]:
        """The steps in their order."""
        *others, last = super().acts()
        return (*others, self.kill_gateways, last)

    def prepare(self) -> None:
        """Start the first processes, and wait for the gateways meanwhile."""
        super().prepare()
        for number in self._gateways.numbers:
            self._gateways.await_ready(number)

    def kill_gateways(self) -> None:
        """Each gateway is killed in turn while a client of theirs has yet to let go of a queue."""
        self._ready(LATE)
        slow, queue = self._hold_what_goes_to(LATE, uses_gateway)
        self._begin("gateway_kill", f"{LATE} joins, {slow} is slow, both gateways are killed (-9)")
        self._join_and_await_drop(LATE, slow, queue)
        for number in self._gateways.numbers:
            self._gateways.kill(number)
            self._gateways.start(number)
            self._gateways.await_ready(number)
        self._fleet.resume(slow)
        self._settle()

    def _look_after_all(self) -> None:
        super()._look_after_all()
        self._gateways.check()
