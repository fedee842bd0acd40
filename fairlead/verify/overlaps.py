"""Two owners of one queue at once, and the shortest proof of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairlead.verify.tenures import Tenure, Tenures


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tenures of one queue: ``later`` started when ``earlier`` was not over."""

    earlier: Tenure
    later: Tenure

    @property
    def length_ns(self) -> int | None:
        """How long it lasted; None if neither tenure has a known end."""
        ends = [t.end_ns for t in (self.earlier, self.later) if t.end_ns is not None]
        return min(ends) - self.later.begin_ns if ends else None

    def slice(self) -> tuple[str, ...]:
        """The three records that prove it: both starts, and the first sign of the earlier after."""
        began = self.later.begin_ns
        return (
            _start_line(self.earlier, began),
            _start_line(self.later, began),
            _sign_of_life(self.earlier, began),
        )


def find_overlaps(tenures: Tenures) -> list[Overlap]:
    """Return every pair of tenures of one queue that share a moment, the shortest overlap first."""
    overlaps = [overlap for queue in tenures.by_queue.values() for overlap in _of_queue(queue)]
    return sorted(overlaps, key=_shortest_first)


def _of_queue(tenures: Sequence[Tenure]) -> list[Overlap]:
    overlaps: list[Overlap] = []
    running: list[Tenure] = []
    for tenure in tenures:
        running = [t for t in running if t.end_ns is None or t.end_ns > tenure.begin_ns]
        overlaps += [Overlap(earlier, tenure) for earlier in running]
        running.append(tenure)
    return overlaps


def _shortest_first(overlap: Overlap) -> tuple[bool, int, str]:
    length = overlap.length_ns
    return length is None, length or 0, str(overlap.later.queue)


def _start_line(tenure: Tenure, origin_ns: int) -> str:
    return (
        f"{_at(tenure.begin_ns, origin_ns)} START {tenure.queue} epoch {tenure.epoch}"
        f" offset {tenure.start_offset} by {tenure.client_id}"
    )


def _sign_of_life(tenure: Tenure, origin_ns: int) -> str:
    for message in tenure.consumed:
        if message.t_ns >= origin_ns:
            return (
                f"{_at(message.t_ns, origin_ns)} CONSUMED {tenure.queue} offset {message.offset}"
                f" by {tenure.client_id}"
            )
    if tenure.end_ns is None:
        return f"… {tenure.client_id} never stopped {tenure.queue}"
    word = "killed" if tenure.ending == "killed" else "STOP"
    return f"{_at(tenure.end_ns, origin_ns)} {word} {tenure.queue} by {tenure.client_id}"


def _at(t_ns: int, origin_ns: int) -> str:
    return f"{(t_ns - origin_ns) / 1e6:+.3f} ms"
