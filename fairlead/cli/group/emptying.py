"""Waits until drained clients hold no queue and may be stopped."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from fairlead.counts import counted
from fairlead.errors import VerdictError
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from fairlead.core.allocation import Strategy
    from fairlead.core.model import MessageQueue
    from fairlead.settings import Settings

__all__ = ["wait_until_empty"]

_LOOK_SECONDS: Final = 0.5
_NAMED_MAX: Final = 3


def wait_until_empty(
    group: str,
    client_ids: Sequence[str],
    seconds_max: float,
    settings: "Settings",
    strategies: "Mapping[str, Strategy]",
) -> None:
    """Read the group's topics until none of these clients holds a queue.

    Raises:
        VerdictError: a client still holds one when the time is over.
        EnvironmentMissingError: the topics cannot be read.
    """
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.observed.live_group import UnknownGroupError
    from fairlead.observed.reading import read_live_group
    from fairlead.planning.holdings import holdings_of

    source = KafkaSource(settings.kafka)
    deadline = time.monotonic() + seconds_max
    while True:
        try:
            live = read_live_group(source, group, strategies, settings.engine.tick_ms)
        except UnknownGroupError:
            return
        held = holdings_of(live, client_ids)
        if not held:
            return
        if time.monotonic() >= deadline:
            raise VerdictError(
                f"{_worded(held)} after {seconds_max:g} s; the drain goes on.",
                remedy="A handler may still work on a message: wait longer, or look at the client.",
            )
        time.sleep(_LOOK_SECONDS)


def _worded(held: "Mapping[str, Sequence[MessageQueue]]") -> str:
    return "; ".join(
        f"{client_id} still has {counted(len(queues), 'queue')} ("
        + ", ".join(queue_words(queue) for queue in queues[:_NAMED_MAX])
        + (", …)" if len(queues) > _NAMED_MAX else ")")
        for client_id, queues in sorted(held.items())
    )
