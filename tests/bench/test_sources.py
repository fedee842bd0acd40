"""The figures that come from outside: the job's page of metrics."""

import pytest
from fairlead_proof.bench.batch_clock import FAMILY, BatchClock, batches_between, read_sums
from prometheus_client import CollectorRegistry, Histogram, generate_latest


def _page(*batches_s: float) -> str:
    registry = CollectorRegistry()
    histogram = Histogram(FAMILY, "as the job has it", ["phase"], registry=registry)
    for seconds in batches_s:
        histogram.labels("total").observe(seconds)
        histogram.labels("commit").observe(seconds / 10)
    return generate_latest(registry).decode()


def test_batches_are_the_difference_of_two_readings() -> None:
    """The difference between two looks at the page is the batches that ended in between."""
    before, one, three = (
        read_sums(_page(*batches)) for batches in ((0.5,), (0.5, 0.2), (0.5, 0.2, 0.1, 0.3))
    )
    assert batches_between(before, one) == {
        "total": [pytest.approx(200)], "commit": [pytest.approx(20)],
    }  # fmt: skip
    assert batches_between(one, three)["total"] == [pytest.approx(200)] * 2
    assert batches_between(one, one) == {}


def test_before_the_first_batch_everything_is_to_come() -> None:
    """A page without batches is one on which everything is still to come."""
    assert batches_between(read_sums(""), read_sums(_page(0.2)))["total"] == [pytest.approx(200)]


def test_an_engine_that_does_not_answer_fails_the_measurement() -> None:
    """An engine that does not answer fails the measurement and not silently its figures."""
    with pytest.raises(RuntimeError, match="could not be read"), BatchClock("http://127.0.0.1:9/"):
        pass
