"""The network between clients and brokers: how long calls take, and which are lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["FOR_EVER_MS", "TRIP_MS", "UNTROUBLED", "Network", "Trouble"]

TRIP_MS = 10
"""One way between a client and a broker."""

FOR_EVER_MS = 10**9
"""Later than the end of any run."""

Call = Literal["notification", "look_up", "persist", "heartbeat"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Calls of one client that go wrong from ``from_ms`` to ``to_ms``.

    ``notification``: from a broker, about changed members. ``look_up``: of the consumer ids.
    ``persist``: of offsets, to the broker. ``heartbeat``: to a broker.

    ``late_ms``: the extra delay; None: the call is lost. ``broker``: only this one; "": all.
    """

    call: Call
    process: str
    from_ms: int = 0
    to_ms: int = FOR_EVER_MS
    late_ms: int | None = None
    broker: str = ""

    def strikes(self, call: Call, process: str, broker: str, at_ms: int) -> bool:
        """Tell whether a call goes wrong."""
        return (
            (self.call, self.process) == (call, process)
            and self.broker in ("", broker)
            and self.from_ms <= at_ms < self.to_ms
        )


@dataclass(frozen=True, slots=True)
class Network:
    """The troubles of a run; everything else arrives after TRIP_MS.

    ``asks``: the broker that a process asks for the consumer ids, from a time on, as (process,
    from ms, broker). RocketMQ's clients ask a random broker of the topic; here they ask the first,
    unless this names another.
    """

    troubles: tuple[Trouble, ...] = ()
    asks: tuple[tuple[str, int, str], ...] = ()

    def trip_ms(self, call: Call, process: str, broker: str, at_ms: int) -> int | None:
        """Return how long a call takes; None: it is lost."""
        late_ms = 0
        for trouble in self._of(call, process, broker, at_ms):
            if trouble.late_ms is None:
                return None
            late_ms = max(late_ms, trouble.late_ms)
        return TRIP_MS + late_ms

    def asked(self, process: str, brokers: tuple[str, ...], at_ms: int) -> str:
        """Return the broker that a process asks for the consumer ids at this time."""
        chosen = brokers[0]
        for asking, from_ms, broker in self.asks:
            if asking == process and from_ms <= at_ms:
                chosen = broker
        return chosen

    def _of(self, call: Call, process: str, broker: str, at_ms: int) -> Iterator[Trouble]:
        return (each for each in self.troubles if each.strikes(call, process, broker, at_ms))


UNTROUBLED = Network()
"""Nothing goes wrong."""
