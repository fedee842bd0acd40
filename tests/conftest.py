"""What holds for every test: one Python for Spark's workers, no settings of the user's own."""

import os
import sys

import pytest
import structlog
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.fixtures.kafka",
    "tests.fixtures.log",
    "tests.fixtures.rocketmq",
    "tests.fixtures.secure_kafka",
    "tests.fixtures.spark",
]

# A failing random example is worth keeping; a slow machine is no failure.
SLOW = [HealthCheck.too_slow]
settings.register_profile(
    "fixed",
    derandomize=True,
    max_examples=40,
    deadline=None,
    print_blob=True,
    suppress_health_check=SLOW,
)
settings.register_profile("long", settings.get_profile("fixed"), max_examples=200)
settings.register_profile(
    "fresh", max_examples=1_000, deadline=None, print_blob=True, suppress_health_check=SLOW
)


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the environment before any test module is imported."""
    del config
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
    for variable in [name for name in os.environ if name.upper().startswith("FAIRLEAD__")]:
        del os.environ[variable]
    # Spark's workers must run the Python of the tests, and listen nowhere but here.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # As programs do: what a command writes is not mixed with the log of an engine beside it.
    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))


SECONDS_MAX = {"slow": 600, "system": 300, "spark": 300}
"""How long a whole test of a kind may take, where it is not 120 s as pyproject.toml says.

Engines start and stop in these, some of them several times: each single wait ends within 120 s.
"""

SHARED_PARTS = ("spark", "broker", "java")
"""Tests with one of these run one after another, in one process; the first that is marked counts.

Those with Spark keep one core busy, those with a broker alone mostly wait: they go side by side.
The client's own tests have a broker of their own: in one row with all others they ended last.
Whole systems share nothing with either. They run one at a time: two of them beside a Spark session
have more to do than two cores can, and each waits for the other.
"""

SPREAD = (
    "tests/explorer/test_worlds.py",
    "tests/settings/test_refusals.py",
    "tests/sim/test_schedules.py",
    "tests/verify/test_simulated.py",
)
"""Files whose tests share nothing and take long together: they come last, one by one.

The tests of any other file share a process, and so what its fixtures and caches have made.
"""

LONGEST_FIRST = ("systems", "spark", "broker", "client broker", "tests/browser", "mutants", "java")
"""A group that began late would be waited for at the end, by processes with nothing to do."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of one part together when several processes share the work.

    First of all: xdist reads the groups in this same hook, and gives them out in their order.
    """
    for item in items:
        if not item.get_closest_marker("timeout"):
            kinds = [kind for kind in SECONDS_MAX if item.get_closest_marker(kind)]
            for kind in kinds[:1]:
                item.add_marker(pytest.mark.timeout(SECONDS_MAX[kind]))
        group = _group(item)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    if hasattr(config, "workerinput"):
        ranks = {group: rank for rank, group in enumerate(LONGEST_FIRST)}
        items.sort(
            key=lambda item: min(
                (ranks.get(mark.args[0], len(ranks)) for mark in item.iter_markers("xdist_group")),
                default=len(ranks) + 1,
            )
        )


def _group(item: pytest.Item) -> str | None:
    if item.get_closest_marker("xdist_group"):
        return None
    if item.get_closest_marker("system"):
        return "systems"
    file = item.nodeid.partition("::")[0]
    folder = file.rpartition("/")[0]
    part = next((name for name in SHARED_PARTS if item.get_closest_marker(name)), None)
    # Those of tidiness share what they have read of every file, those of the console a browser.
    if part is None and folder in ("tests/tidy", "tests/browser"):
        return folder
    if part is None:
        return None if file in SPREAD else file
    return "client broker" if part == "broker" and folder.startswith("client/") else part
