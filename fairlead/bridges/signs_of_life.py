"""Writes the bridge's signs of life: one every few seconds, and one at an orderly end."""

from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.figures import State
from fairlead.core.records import BridgeSign, BridgeState
from fairlead.wire.encode_bridge import encode_sign
from fairlead.wire.topics import TopicNames

__all__ = ["SignsOfLife"]


class SignsOfLife:
    """Writes the signs to the offsets topic, under the cluster's key.

    Args:
        cluster: the bridge's name of its cluster.
        bridge: the UUID of this run of the bridge.
        control: Fairlead's topics.
        names: their names.
        every_ms: the time between two signs.
    """

    def __init__(
        self, cluster: str, bridge: str, control: ControlTopics, names: TopicNames, every_ms: int
    ) -> None:
        self._cluster = cluster
        self._bridge = bridge
        self._control = control
        self._names = names
        self._every_ms = every_ms
        self._next_at_ms: int | None = None
        self._written = False

    def give(self, state: State, *, now_ms: int) -> None:
        """Write a sign if one is due; after a failure the next one replaces it.

        Args:
            state: what the bridge is doing.
            now_ms: a monotonic clock.
        """
        if self._next_at_ms is None or now_ms >= self._next_at_ms:
            self._next_at_ms = now_ms + self._every_ms
            self._write("look_ups_fail" if state == "look_ups_fail" else "running")

    def last(self) -> None:
        """Write that the bridge ends in order, unless the last sign has failed.

        During an outage a stopping bridge would wait in vain.
        """
        if self._written:
            self._write("stopped")

    def _write(self, state: BridgeState) -> None:
        sign = BridgeSign(self._cluster, self._bridge, state, self._every_ms)
        (self._written,) = self._control.write([encode_sign(sign, self._names)], answers=False)
