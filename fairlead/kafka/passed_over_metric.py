"""The metric of batches that this process could not read, for the engine and `fairlead serve`."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead.kafka.topic_consumer import BATCHES_PASSED_OVER

__all__ = ["PassedOverMetric"]


class PassedOverMetric(Collector):
    """One counter, with a series for each topic that had such a batch."""

    def collect(self) -> Iterator[Metric]:
        """Yield the counter."""
        family = CounterMetricFamily(
            "fairlead_batches_passed_over",
            "Batches of Fairlead's topics that a reader of this process skipped because of their "
            "codec, checksum or form; the log names each. The query's own reading is not counted.",
            labels=["topic"],
        )
        for topic, count in sorted(BATCHES_PASSED_OVER.counts().items()):
            family.add_metric([topic], count)
        yield family
