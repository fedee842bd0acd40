"""A group that nobody is in, as the commands that look at groups tell it: what waits, and how."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.kit.command import Command
from tests.kit.kafka_topics import commit
from tests.kit.memory_topics import bounds
from tests.kit.routed_topic import routed_topic

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames
    from tests.kit.kafka_log import Log


@pytest.fixture
def command(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The command of the test; no `fairlead serve` answers it."""
    monkeypatch.setenv("FAIRLEAD__SERVE__URL", "")
    return Command("group", settings, capsys)


@pytest.fixture
def topic(bootstrap: str, topics: "TopicNames") -> Iterator[str]:
    """A topic of two queues with ten messages each."""
    with routed_topic(bootstrap, topics) as name:
        yield name


def _tell(log: "Log", group: str, topic: str, position: int) -> None:
    """Tell as a bridge that a group has committed so far in the first queue of the topic."""
    (route,) = log.records("routes")
    told = {**bounds(group, topic, 1), "identity": orjson.loads(route.value)["identity"]}
    told["queues"][0] |= {"max": 10, "committed": [0, position]}
    log.append("offsets", orjson.dumps({"v": 1, **told}), orjson.dumps([topic, group]))


def _problems(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["problem"], each["says"]) for each in found["problem_list"]]


def test_check_and_list_agree_about_an_offline_group(
    command: Command, log: "Log", bootstrap: str, topic: str
) -> None:
    """Check of one and of all and the list say alike what waits for a group that nobody is in."""
    behind, done = f"{topic}-behind", f"{topic}-done"
    for group, position in ((behind, 4), (done, 10)):
        _tell(log, group, topic, position)
    commit(bootstrap, behind, topic, {0: (4, ""), 1: (10, "")})
    commit(bootstrap, done, topic, {0: (10, ""), 1: (10, "")})
    waits = [("offline", "it has no members, and 6 messages wait")]
    found = command("check", behind, code=ExitCode.VERDICT_NEGATIVE)
    assert (found["verdict"], found["members"], found["lag_messages"]) == ("problems", 0, 6)
    assert _problems(found) == waits
    found = command("check", done)
    assert (found["verdict"], found["lag_messages"], found["problem_list"]) == ("nobody", 0, [])
    assert found["notes"] == ["no engine has ever run"]
    every = command("check", "--all", code=ExitCode.VERDICT_NEGATIVE)
    assert [(each["verdict"], _problems(each)) for each in every["verdict_list"]] == [
        ("problems", waits),
        ("nobody", []),
    ]
    (listed,) = command("list")
    assert (listed["group"], listed["problems"]) == (behind, ["offline"])
    assert listed["engine"]["silent"] is True
