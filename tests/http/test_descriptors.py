"""A process may have as many connections as its settings say: it raises its own limit at start."""

import subprocess
import sys

from fairlead.http.descriptors import descriptors_needed
from fairlead.settings import load_settings

RAISES = """
import resource, sys
from fairlead.http.descriptors import raise_descriptor_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (64, int(sys.argv[1])))
print(raise_descriptor_limit(int(sys.argv[2])), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def _raised(hard: int, needed: int) -> list[int]:
    """Return what a process may have that began with 64: by its own word, and by the kernel's."""
    command = [sys.executable, "-c", RAISES, str(hard), str(needed)]
    ended = subprocess.run(command, capture_output=True, check=True, timeout=60)
    return [int(each) for each in ended.stdout.split()]


def test_the_soft_limit_is_raised_as_far_as_needed() -> None:
    """Not further than needed, and not beyond the hard limit."""
    assert _raised(900, 500) == [500, 500, 900]
    assert _raised(400, 500) == [400, 400, 400]


def test_a_limit_that_suffices_stays() -> None:
    """A limit that suffices is left alone."""
    assert _raised(900, 50) == [64, 64, 900]


def test_sessions_count_where_there_is_a_gateway() -> None:
    """Each client of a gateway holds a connection besides those of http.connections."""
    without = load_settings(overrides={"gateway.sessions": 700})
    with_it = load_settings(overrides={"gateway.sessions": 700, "gateway.enabled": "true"})
    assert descriptors_needed(with_it) - descriptors_needed(without) == 700
    assert descriptors_needed(without) > without.http.connections
