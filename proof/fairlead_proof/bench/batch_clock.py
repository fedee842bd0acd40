"""How long each batch took, by the job's own progress: its ``/metrics``, looked at often.

The endpoint shows the sum and the count of all batches, per phase. Looked at more often than
batches end, the difference between two looks is one batch; when two ended between two looks, each
counts as their mean.
"""

import threading
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from prometheus_client.parser import text_string_to_metric_families

FAMILY: Final = "fairlead_batch_duration_seconds"
TOTAL: Final = "total"
_LOOK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Sums:
    """The page at one look: per phase, how many batches and their time together, in seconds."""

    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


class BatchClock:
    """Watches one engine on a thread, between `begin` and the end of the context.

    Attributes:
        phases_ms: per phase of a batch, how long it took in each batch, in order of time.
    """

    def __init__(self, url: str) -> None:
        self.phases_ms: dict[str, list[float]] = {}
        # Only what is looked for: to write and to read the whole page takes the measured's time.
        self._url = f"{url}?name[]={FAMILY}_sum&name[]={FAMILY}_count"
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="batch-clock", daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; raise what went wrong meanwhile."""
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise RuntimeError(f"{self._url} could not be read") from self._failure

    def _run(self) -> None:
        try:
            before = read_sums(self._fetch())
            while not self._ended.wait(_LOOK_SECONDS):
                now = read_sums(self._fetch())
                for phase, times in batches_between(before, now).items():
                    self.phases_ms.setdefault(phase, []).extend(times)
                before = now
        except Exception as error:  # noqa: BLE001 - raised when the context ends
            self._failure = error

    def _fetch(self) -> str:
        with urllib.request.urlopen(self._url, timeout=5) as answer:  # noqa: S310 - our own engine
            text: str = answer.read().decode("utf-8")
        return text


def read_sums(text: str) -> Sums:
    """Return what a page of metrics says of batches; nothing before the first one."""
    by_suffix: dict[str, dict[str, float]] = {"_count": {}, "_sum": {}}
    for family in text_string_to_metric_families(text):
        if family.name != FAMILY:
            continue
        for sample in family.samples:
            ending = sample.name.removeprefix(FAMILY)
            if ending in by_suffix:
                by_suffix[ending][sample.labels["phase"]] = sample.value
    counts = {phase: int(count) for phase, count in by_suffix["_count"].items()}
    return Sums(counts, by_suffix["_sum"])


def batches_between(before: Sums, now: Sums) -> dict[str, list[float]]:
    """Return per phase the batches that ended between two looks, in milliseconds."""
    ended: dict[str, list[float]] = {}
    for phase, count in now.counts.items():
        new = count - before.counts.get(phase, 0)
        if new > 0:
            seconds = now.seconds[phase] - before.seconds.get(phase, 0.0)
            ended[phase] = [seconds * 1000 / new] * new
    return ended
