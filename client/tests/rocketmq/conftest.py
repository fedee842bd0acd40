"""Topics of a real RocketMQ, of each test's own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.kit.rocketmq_topic import RocketMQTopic


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for a cluster, whose line only a parameter names."""
    for item in items:
        own = item.path.is_relative_to(Path(__file__).parent)
        if own and "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.broker)


@pytest.fixture(params=["rocketmq", "rocketmq_4"])
def both_lines(request: pytest.FixtureRequest) -> str:
    """Run a test on the cluster of each line of servers."""
    return str(request.param)


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Any:
    """The cluster of the line that `both_lines` names, if the test asks for it, else 5.3.3."""
    asked = "both_lines" in request.fixturenames
    return request.getfixturevalue(request.getfixturevalue("both_lines") if asked else "rocketmq")


@pytest.fixture
def topic(cluster: Any) -> Iterator[RocketMQTopic]:
    """A topic with two queues on each of two brokers."""
    one = RocketMQTopic(cluster, f"orders-{uuid4().hex[:8]}")
    yield one
    one.close()


@pytest.fixture
def group() -> Callable[[], str]:
    """Return the name of a group that nobody has."""
    return lambda: f"group-{uuid4().hex[:8]}"
