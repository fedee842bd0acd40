"""The brokers that the fair selection avoids: those that were slow lately, and those that failed.

The times come from a LatencyTable and are never shortened, as in RocketMQ's line 5. When a
broker's time is over, it is on probation: it gets one message at a time until it has answered fast
for a second. So a broker that is still slow or broken costs one message, not all that are sent
until its first answer.
"""

from typing import Final, NamedTuple

from fairlead_client.produce.latency_table import TABLE_5, LatencyTable

PROBATION_MS: Final = 1_000
"""How long an avoided broker must answer fast before it gets its whole share again."""
_NEVER: Final = 2**63


class BrokerState(NamedTuple):
    """The state of one broker; times are on the producer's clock.

    Attributes:
        latency_ms: the latency of the last sending.
        avoided_until_ms: until when the broker is avoided.
        reachable: whether the last sending reached it.
        suspect: whether it was avoided and has not passed its probation since.
        trial_until_ms: until when one message tries it and no other does.
        well_since_ms: when the first fast answer of the probation came; None before.
    """

    latency_ms: int = 0
    avoided_until_ms: int = 0
    reachable: bool = True
    suspect: bool = False
    trial_until_ms: int = 0
    well_since_ms: int | None = None


UNKNOWN: Final = BrokerState()


class BrokerHealth:
    """Learns from each sending. Not thread safe: its selector holds a lock.

    Args:
        table: for how long a latency makes the producer avoid a broker.
        trial_ms: how long a trial may take before another message may try.
    """

    def __init__(self, table: LatencyTable = TABLE_5, trial_ms: int = 3_000) -> None:
        self._table = table
        self._trial_ms = trial_ms
        self._states: dict[str, BrokerState] = {}
        self._avoided: frozenset[str] = frozenset()
        self._unreachable: frozenset[str] = frozenset()
        self._valid_until_ms = _NEVER

    def succeeded(self, broker: str, latency_ms: int, *, now_ms: int) -> int:
        """Note that a broker acknowledged a message after `latency_ms`.

        Returns:
            For how long from now the broker is avoided, in ms.
        """
        return self._learn(broker, latency_ms, now_ms, isolation=False, reachable=True)

    def failed(self, broker: str, latency_ms: int, *, reachable: bool, now_ms: int) -> int:
        """Note that a sending failed; without `reachable` there was no answer at all.

        Returns:
            For how long from now the broker is avoided, in ms.
        """
        return self._learn(broker, latency_ms, now_ms, isolation=True, reachable=reachable)

    def forget_except(self, brokers: frozenset[str]) -> None:
        """Forget all brokers but these."""
        self._states = {name: state for name, state in self._states.items() if name in brokers}
        self._valid_until_ms = -_NEVER

    def avoided(self, now_ms: int) -> frozenset[str]:
        """Return the brokers to avoid while there are others."""
        if now_ms >= self._valid_until_ms:
            self._refresh(now_ms)
        return self._avoided

    @property
    def unreachable(self) -> frozenset[str]:
        """The brokers whose last sending got no answer, as of the last call of `avoided`."""
        return self._unreachable

    @property
    def states(self) -> dict[str, BrokerState]:
        """The state of each broker."""
        return dict(self._states)

    def chosen(self, broker: str, *, now_ms: int) -> None:
        """Note that a message goes to the broker; for a suspect broker this is the trial."""
        state = self._states.get(broker)
        if state is None or not state.suspect:
            return
        if now_ms >= max(state.avoided_until_ms, state.trial_until_ms):
            self._states[broker] = state._replace(trial_until_ms=now_ms + self._trial_ms)
            self._valid_until_ms = -_NEVER

    def _learn(
        self, broker: str, latency_ms: int, now_ms: int, *, isolation: bool, reachable: bool
    ) -> int:
        before = self._states.get(broker, UNKNOWN)
        duration_ms = self._table.not_available_ms(latency_ms, isolation=isolation)
        if duration_ms:
            until_ms = max(before.avoided_until_ms, now_ms + duration_ms)
            state = BrokerState(latency_ms, until_ms, reachable, suspect=True)
        elif before.suspect:
            state = _on_probation(before, latency_ms, now_ms)
        else:
            state = BrokerState(latency_ms, before.avoided_until_ms)
        self._states[broker] = state
        # Usually only the latency has changed.
        if before[1:] != state[1:]:
            self._valid_until_ms = -_NEVER
        return max(0, state.avoided_until_ms - now_ms)

    def _refresh(self, now_ms: int) -> None:
        avoided, unreachable, valid_until_ms = [], [], _NEVER
        for name, state in self._states.items():
            end_ms = max(state.avoided_until_ms, state.trial_until_ms)
            if now_ms < end_ms:
                avoided.append(name)
                valid_until_ms = min(valid_until_ms, end_ms)
            if not state.reachable:
                unreachable.append(name)
        self._avoided = frozenset(avoided)
        self._unreachable = frozenset(unreachable)
        self._valid_until_ms = valid_until_ms


def _on_probation(before: BrokerState, latency_ms: int, now_ms: int) -> BrokerState:
    """Return the state of a suspect broker after a fast answer."""
    if now_ms < before.avoided_until_ms:
        # The message was sent before the time is over, so its answer shows nothing.
        return before._replace(latency_ms=latency_ms)
    since_ms = now_ms if before.well_since_ms is None else before.well_since_ms
    if now_ms - since_ms >= PROBATION_MS:
        return BrokerState(latency_ms, before.avoided_until_ms)
    return BrokerState(latency_ms, before.avoided_until_ms, suspect=True, well_since_ms=since_ms)
