"""What the tests of the job share: settings of a test's own topics, and ways to look at them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairlead.settings import Settings, load_settings

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames
    from tests.streaming.log import Log


@pytest.fixture
def settings(bootstrap: str, topics: "TopicNames", tmp_path: Path) -> Settings:
    """The settings of an engine of the test's own, on topics that exist."""
    overrides = {
        "kafka.bootstrap": bootstrap,
        "kafka.topic_prefix": topics.prefix,
        "engine.checkpoint": str(tmp_path / "checkpoint"),
        "metrics.port": 0,
    }
    return load_settings(overrides=overrides)


@pytest.fixture
def log(settings: Settings) -> Iterator["Log"]:
    """The test's topics, to write to and to read."""
    from tests.streaming.log import Log

    with Log(settings.kafka) as opened:
        yield opened
