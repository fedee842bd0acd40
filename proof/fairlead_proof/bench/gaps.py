"""How long a queue that changed hands had no owner: the one stopped, and the other started.

A client reports a stop when it has nothing of the queue in hand any more, so what the application
needed to finish is no part of a gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fairlead.core.model import MessageQueue

Word = tuple[int, str]
"""When, in monotonic nanoseconds, and the client that said it."""


@dataclass(slots=True)
class Turns:
    """Who started and who stopped on each queue, by their own words.

    Words of two processes are heard in any order, so nothing is concluded before all are there.
    """

    starts: dict[MessageQueue, list[Word]] = field(default_factory=dict)
    stops: dict[MessageQueue, list[Word]] = field(default_factory=dict)

    def gaps_ms(self, spans: Sequence[tuple[int, int]]) -> list[float]:
        """Return the gaps of all moves from one client to another in these spans, in milliseconds.

        Args:
            spans: begins and ends, in monotonic nanoseconds; a move counts where it ends.

        A start after a holder that never stopped, as after a crash, has no gap: nobody said when
        the work ended.
        """
        lengths_ms: list[float] = []
        for queue, words in self.starts.items():
            stops = self.stops.get(queue, ())
            for (before_ns, holder), (started_ns, client_id) in pairwise(sorted(words)):
                if holder == client_id or not _within(started_ns, spans):
                    continue
                ends = [t for t, who in stops if who == holder and before_ns <= t <= started_ns]
                if ends:
                    lengths_ms.append((started_ns - max(ends)) / 1e6)
        return lengths_ms


def _within(t_ns: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(begun <= t_ns <= ended for begun, ended in spans)
