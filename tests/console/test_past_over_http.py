"""The past of a group over HTTP: ribbon, moves, a decision's proof, a queue's story, a moment."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer

from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from tests.answers.schema import assert_answer, assert_answers
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.moving_world import GROUP, moving_life
from tests.kit.serve_process import Served, serving
from tests.kit.world import World

_CLOCKS = ("lag_ms", "idle_ms")
"""Keys that grow between two answers."""
_PATH = f"/api/v1/groups/{GROUP}"


def _published(world: World, bootstrap: str, prefix: str) -> None:
    """Write all records of a world to topics of this prefix, in the order of their times."""
    partitions = {
        "topics.heartbeats_partitions": str(PARTITIONS.shards),
        "topics.assignments_partitions": str(PARTITIONS.assignments),
    }
    specs = topic_specs(load_settings(overrides=partitions).topics)
    create_topics({"bootstrap_servers": bootstrap, "client_id": "tests"}, prefix, specs, 1)
    rows = [row for place in world.topics.places() for row in world.topics.log(*place)]
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for row in sorted(rows, key=lambda row: row.append_ms):
            value = (
                None if row.value is None else row.value.replace(b'"t.', b'"%b' % prefix.encode())
            )
            topic = prefix + (NAMES.suffix(row.topic) or "")
            producer.send(topic, value, key=row.key, partition=row.partition).get(30)


@pytest.fixture(scope="module")
def served(kafka: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A serve process over the records of a group with joins, a death, orders and a leave."""
    prefix = f"past-{time.time_ns()}."
    _published(moving_life(), kafka.bootstrap, prefix)
    with serving(tmp_path_factory.mktemp("serve"), kafka.bootstrap, prefix) as process:
        process.wait("/readyz", 200)
        yield process


def _get(served: Served, path: str, status: int = 200) -> Any:
    beside = "" if path.startswith("?") or not path else "/"
    found, body = served.get(f"{_PATH}{beside}{path}")
    assert found == status, body
    return orjson.loads(body)


def test_the_ribbon_has_who_had_each_queue(served: Served) -> None:
    """Each queue has a row and each decision a mark; the last spans are those of the owners."""
    ribbon = _get(served, "ribbon")
    assert_answer("Ribbon", ribbon)
    owners = {tuple(each["queue"]): each["owner"] for each in _get(served, "")["queue_list"]}
    shown = {tuple(row["queue"]): row["spans"][-1]["client_id"] for row in ribbon["rows"]}
    assert shown == owners
    decisions = _get(served, "decisions")["decisions"]
    assert [each["at"] for each in ribbon["marks"]] == [each["at"] for each in decisions]
    assert _get(served, "ribbon?to_ms=1")["rows"][0]["spans"] == []
    assert _get(served, "ribbon?from_ms=9&to_ms=8", 400)["field"] == "to_ms"
    assert _get(served, "ribbon?at_ms=-1", 400)["field"] == "at_ms"


def test_each_decision_has_its_proof(served: Served) -> None:
    """Causes are verified by records of the topics, whose content is shown."""
    moves = _get(served, "moves")
    assert_answers("Move", moves)
    offsets = sorted({each["at"][2] for each in moves})
    proofs = [_get(served, f"decisions/{each}") for each in offsets]
    for each in proofs:
        assert_answer("DecisionProof", each)
    causes = [cause for each in proofs for cause in each["cause"]]
    assert {each["status"] for each in causes} <= {"verified", "compacted", "no_record"}
    shown = [each["evidence"]["value"] for each in causes if each["status"] == "verified"]
    assert {each["kind"] for each in shown} >= {"heartbeat", "release"}
    assert [move for each in proofs for move in map(_bare, each["moves"])] == moves
    assert _get(served, "decisions/99999", 404)["field"] == "offset"


def _bare(move: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in move.items() if name != "steps"}


def test_each_queue_has_its_story(served: Served) -> None:
    """The story of a queue begins with what the description of its group says of it."""
    for row in _get(served, "")["queue_list"][:2]:
        story = _get(served, f"queues/{'/'.join(map(str, row['queue']))}?depth=9")
        assert_answer("Story", story)
        told = {name: story[name] for name in row if name not in _CLOCKS}
        assert told == {name: row[name] for name in told}
        assert len(story["owners"]) > 1
    assert _get(served, "queues/orders/main/77", 404)["field"] == "queue"
    assert _get(served, "queues/orders/main/1?depth=9999", 400)["field"] == "depth"


def test_a_moment_is_what_the_ribbon_shows_there(served: Served) -> None:
    """At each decision the owners of that moment are those of the ribbon at that moment."""
    marks = _get(served, "ribbon")["marks"]
    for mark in marks[2:]:
        at_ms = mark["append_ms"]
        then = _get(served, f"?at_ms={at_ms}")
        assert_answer("GroupThen", then)
        assert then["decision"]["append_ms"] == at_ms == then["at_ms"]
        ribbon = _get(served, f"ribbon?from_ms={at_ms}&at_ms={at_ms}")
        assert _working(then) == {
            tuple(row["queue"]): sorted(
                span["client_id"]
                for span in row["spans"]
                if span["ends_ms"] is None and not span["waits"]
            )
            for row in ribbon["rows"]
        }
    refused = _get(served, "?at_ms=1000", 410)
    assert_answer("Error", refused)
    assert refused["oldest_ms"] == marks[0]["append_ms"]
    assert _get(served, f"?at_ms={10**14}", 400)["field"] == "at_ms"


def _working(then: Mapping[str, Any]) -> dict[tuple[Any, ...], list[str]]:
    return {
        tuple(row["queue"]): sorted(each["client_id"] for each in row["held"] + row["draining"])
        for row in then["queue_list"]
    }


def test_few_at_once_read_the_topics(served: Served) -> None:
    """Of many at once few read the topics; the others are refused, and told when to come again."""
    offset = _get(served, "moves")[-1]["at"][2]
    with ThreadPoolExecutor(24) as callers:
        answers = list(
            callers.map(lambda _: served.get(_PATH + "/decisions" + f"/{offset}")[0], range(24))
        )
    assert set(answers) <= {200, 429, 503}
    assert 200 in answers
    assert served.get("/healthz")[0] == 200
