"""Topics of a real RocketMQ, of each test's own."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.kit.rocketmq_topic import RocketMQTopic

LINES = pytest.mark.parametrize(
    "cluster", ["rocketmq", pytest.param("rocketmq_4", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Any:
    """The cluster of the parameter's line; 5.3.3 without one."""
    return request.getfixturevalue(getattr(request, "param", "rocketmq"))


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
