"""The figures that come from outside: the job's page of metrics, the kernel's processor times."""

import os
import subprocess
import sys

import pytest
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from fairlead.bench.batch_clock import FAMILY, BatchClock, batches_between, read_sums
from fairlead.bench.processor_time import processor_seconds

BURN = """
import sys, time
begun = time.process_time()
while time.process_time() - begun < 0.5:
    pass
print("burnt", flush=True)
sys.stdin.readline()
"""
BURN_IN_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {BURN!r}])
child.wait()
"""


def _page(*batches_s: float) -> str:
    registry = CollectorRegistry()
    histogram = Histogram(FAMILY, "as the job has it", ["phase"], registry=registry)
    for seconds in batches_s:
        histogram.labels("total").observe(seconds)
        histogram.labels("commit").observe(seconds / 10)
    return generate_latest(registry).decode()


def test_batches() -> None:
    """The difference between two looks at the page is the batches that ended in between."""
    before, one, three = (
        read_sums(_page(*batches)) for batches in ((0.5,), (0.5, 0.2), (0.5, 0.2, 0.1, 0.3))
    )
    assert batches_between(before, one) == {
        "total": [pytest.approx(200)], "commit": [pytest.approx(20)],
    }  # fmt: skip
    assert batches_between(one, three)["total"] == [pytest.approx(200)] * 2
    assert batches_between(one, one) == {}


def test_no_batch_yet() -> None:
    """A page without batches is one on which everything is still to come."""
    assert batches_between(read_sums(""), read_sums(_page(0.2)))["total"] == [pytest.approx(200)]


def test_unreadable_page() -> None:
    """An engine that does not answer fails the measurement and not silently its figures."""
    with pytest.raises(RuntimeError, match="could not be read"), BatchClock("http://127.0.0.1:9/"):
        pass


@pytest.mark.parametrize("code", [BURN, BURN_IN_CHILD], ids=["own", "of_child"])
def test_processor_time(code: str) -> None:
    """The time that a process or its child used is seen while both live."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "burnt\n"
        used = processor_seconds(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
    assert 0.4 < used < 5.0


def test_no_such_process() -> None:
    """A process that is gone has no figure."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with pytest.raises(ProcessLookupError):
        processor_seconds(gone.pid)
    assert processor_seconds(os.getpid()) > 0
