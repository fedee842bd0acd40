"""Fixtures of the tests of the RocketMQ bridge."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.kit.rocketmq_operator import RocketMQOperator

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ


@pytest.fixture
def operator(rocketmq_4: "EmbeddedRocketMQ") -> Iterator[RocketMQOperator]:
    """An operator of the cluster of 4.9.7."""
    made = RocketMQOperator(rocketmq_4)
    yield made
    made.close()


@pytest.fixture(params=["rocketmq_4", "rocketmq"])
def either(request: pytest.FixtureRequest) -> Iterator[RocketMQOperator]:
    """An operator of the cluster of 4.9.7, then one of that of 5.3.3."""
    made = RocketMQOperator(request.getfixturevalue(request.param))
    yield made
    made.close()
