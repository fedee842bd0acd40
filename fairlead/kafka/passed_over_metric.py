"""How many batches this process could not read: asked at each scrape, for engine and view alike."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead.kafka.topic_consumer import BATCHES_PASSED_OVER

__all__ = ["PassedOverMetric"]


class PassedOverMetric(Collector):
    """One counter, with a series for each topic that held such a batch."""

    def collect(self) -> Iterator[Metric]:
        """Yield the counter."""
        family = CounterMetricFamily(
            "fairlead_batches_passed_over",
            "Batches of Fairlead's topics that a reader of this process passed over, because of "
            "their codec, checksum or form; the log names each place. What the query reads itself "
            "is not counted here.",
            labels=["topic"],
        )
        for topic, count in sorted(BATCHES_PASSED_OVER.counts().items()):
            family.add_metric([topic], count)
        yield family
