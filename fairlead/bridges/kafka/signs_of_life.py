"""The bridge's own records: that it is there, every few seconds, and that it ends in order."""

from fairlead.bridges.kafka.control_topics import ControlTopics
from fairlead.bridges.kafka.figures import State
from fairlead.core.records import BridgeSign, BridgeState
from fairlead.wire.encode_bridge import encode_sign
from fairlead.wire.topics import TopicNames

__all__ = ["SignsOfLife"]


class SignsOfLife:
    """Writes them beside the answers, in the place that its cluster has there.

    Args:
        cluster: what the bridge calls its cluster.
        bridge: a uuid of this run of the bridge.
        control: Fairlead's topics.
        names: their names.
        every_ms: between two of them.
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
        """Write one if it is due; one that fails comes again with the next.

        Args:
            state: what the bridge does.
            now_ms: a clock that only goes forward.
        """
        if self._next_at_ms is None or now_ms >= self._next_at_ms:
            self._next_at_ms = now_ms + self._every_ms
            self._write("look_ups_fail" if state == "look_ups_fail" else "running")

    def last(self) -> None:
        """Say that the bridge ends in order; not where the cluster did not take the one before.

        A bridge that is stopped in an outage would wait for nothing.
        """
        if self._written:
            self._write("stopped")

    def _write(self, state: BridgeState) -> None:
        sign = BridgeSign(self._cluster, self._bridge, state, self._every_ms)
        (self._written,) = self._control.write([encode_sign(sign, self._names)], answers=False)
