"""Java's and Python's consumers of one group on a real RocketMQ, and what a look shows of it."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from tests.kit.awaiting import await_seen
from tests.rocketmq_java.balanced_group import BalancedGroup, Engine, engine
from tools.rocketmq_java import built_rocketmq_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.broker]


class PythonProgram:
    """Runs the demo's push consumer in Python where a Java consumer is expected."""

    def __init__(self, place: Engine) -> None:
        self._place = place

    def command(self, program: str, *flags: str) -> list[str]:
        """Return the command for these flags."""
        del program
        given = dict(zip(flags[::2], flags[1::2], strict=True))
        settings = {
            "gateway": given["--gateway"],
            "data_plane": "rocketmq",
            "namesrv": given["--namesrv"],
        }
        kept = {name: given[name] for name in ("--group", "--topic", "--client-id", "--journal")}
        own = {
            **kept,
            "--bootstrap": self._place.bootstrap,
            "--prefix": self._place.prefix,
            "--consumers": "push",
            "--settings": orjson.dumps(settings).decode(),
        }
        module = "fairlead_proof.demo.consumer_process"
        return [sys.executable, "-m", module, *(text for pair in own.items() for text in pair)]


@pytest.fixture
def cluster(tmp_path: Path) -> "Iterator[EmbeddedRocketMQ]":
    """One broker of 5.3.3: two keep more of the processor busy than `make test` has to spare."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

    cluster = EmbeddedRocketMQ(tmp_path / "servers", version="5.3.3")
    cluster.start()
    yield cluster
    # In order it would take ten seconds, and its folder goes.
    for server in cluster.servers:
        cluster.kill(server)


@pytest.mark.timeout(300)
def test_java_and_python_share_a_group(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    cluster: "EmbeddedRocketMQ",
    tmp_path: Path,
) -> None:
    """Queues go from one to the other and back; nothing comes twice, and a look tells who is in."""
    java = built_rocketmq_java()
    folder = tmp_path / "job"
    folder.mkdir()
    with (
        engine(spark_of_the_run, kafka.bootstrap, cluster, folder) as place,
        closing(BalancedGroup(place, java, tmp_path, queues=4)) as group,
    ):
        first = group.member("java")
        group.await_owners(java=4)
        group.begin_to_write()
        second = group.member("python", program=PythonProgram(place))
        group.await_owners(java=2, python=2)
        flags = ["--namesrv", cluster.namesrv, "--group", group.name, "-o", "json"]
        (looked,) = orjson.loads(CliRunner().invoke(app, ["observe", "rocketmq", *flags]).stdout)
        second.leave()
        group.await_owners(java=4)
        written = group.end_writing()
        await_seen(lambda: len(group.processed()), lambda done: done >= written, what="the rest")
        first.leave()
        judged = group.judgement()
    # Python's reader needs no place among RocketMQ's members: they list the Java consumer alone.
    (member,) = looked["member_list"]
    assert member["client_id"].endswith("@java")
    assert len([each for each in member["queue_list"] if each[0] == group.topic.name]) == 2
    assert sorted(group.processed()) == list(range(written))
    assert judged["counts"]["duplicates_clean"] == judged["counts"]["holes"] == 0
    assert [each["number"] for each in judged["invariants"] if each["outcome"] == "broken"] == []
