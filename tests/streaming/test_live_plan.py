"""`fairlead plan` of a live group, held against what the real job then decides."""

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson
import pytest
from fairlead_proof.local.ownership import Ownership
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.settings import Settings
from fairlead.wire.decision_records import DecisionReader
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import raw_record
from tests.kit.awaiting import await_seen
from tests.kit.client import Client
from tests.kit.fleet import Fleet
from tests.kit.job import job
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.kit.kafka_topics import commit, make_topic
from tests.kit.memory_topics import route

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kit.memory_topics import Topics

QUEUES = 9
RULES: dict[str, dict[str, Any]] = {
    "averagely": {"strategy": {"name": "AVG"}},
    "designated": {"designated": {"only": ["c1", "c3"]}},
    "sticky": {"strategy": {"name": "STICKY", "options": {"capacity": {"c1": 2}}}},
    "pinned": {
        "strategy": {"name": "STICKY"},
        "pin": {"queue": ["orders", "main", 0], "client_id": "c3"},
    },
}


def run_plan(settings: Settings, *flags: str) -> dict[str, Any]:
    """Run the command on the test's topics and return its JSON."""
    where = ["--bootstrap", settings.kafka.bootstrap, "--topic-prefix", settings.kafka.topic_prefix]
    ended = CliRunner().invoke(app, ["plan", *where, *flags, "-o", "json"])
    if ended.exception is not None:
        raise ended.exception
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def plan_of_rest(settings: Settings, *flags: str, remarks: int = 0) -> dict[str, Any]:
    """Run the command until it remarks no more than this.

    A batch writes its decision and its sets on topics of their own: who has read the one may read
    the other a moment later, and the plan says meanwhile whose set is being written.
    """
    return await_seen(
        lambda: run_plan(settings, *flags),
        lambda plan: len(plan["notes"]) == remarks,
        what=f"plan of {flags} with {remarks} remarks",
        pause=0.2,
    )


def set_rule(log: Log, group: str, rule: str, value: Mapping[str, Any]) -> None:
    """Be an operator."""
    body = {"v": 1, "kind": "rule", "group": group, "rule": rule, "value": value, "by": "test"}
    key = orjson.dumps([group, rule, *value.get("queue", ())])
    log.append("control", orjson.dumps(body), key, partition_of_group(group, SHARDS))


def decided(log: Log, group: str) -> Ownership:
    """Return what the decisions of a group add up to by now."""
    reader, found = DecisionReader(group), Ownership()
    for record in log.records("decisions"):
        decision = reader.read(raw_record(record))
        if decision is not None:
            found.apply(decision)
    return found


def settled(log: Log, group: str, *members: str) -> Ownership:
    """Wait until a group is at rest with these members."""

    def look() -> Ownership:
        log.check()
        return decided(log, group)

    return await_seen(
        look,
        lambda found: found.is_settled_among(frozenset(members), QUEUES),
        what=f"rest of {group} with {members}",
        pause=0.2,
    )


def owners_of(found: Ownership) -> dict[MessageQueue, str]:
    """Return who owns what."""
    return {queue: client_id for queue, (client_id, _) in found.granted.items()}


def side_of(plan: dict[str, Any], side: str) -> dict[MessageQueue, str]:
    """Return who owns what before or after, by a plan."""
    return {
        MessageQueue(*queue): each["client_id"]
        for each in plan["member_plans"]
        for queue in each[side]
    }


@pytest.mark.slow
def test_a_planned_join_comes_true_in_the_job(
    settings: Settings, log: Log, spark: "SparkSession"
) -> None:
    """Who would get what if a client joined is who gets it from the job when it joins."""
    with Fleet(settings.kafka, QUEUES) as fleet, job(spark, settings, log):
        for group, rules in RULES.items():
            for rule, value in rules.items():
                set_rule(log, group, rule, value)
            for client_id in ("c1", "c2"):
                fleet.join(client_id, group)
        for group in RULES:
            before = settled(log, group, "c1", "c2")
            plan = plan_of_rest(settings, group, "--join", "c3")
            assert (plan["passing"], plan["queues_dropped_without_plan"]) == ([], 0)
            assert side_of(plan, "before") == owners_of(before)
            fleet.join("c3", group)
            after = settled(log, group, "c1", "c2", "c3")
            assert owners_of(after) == side_of(plan, "after")
            assert after.moves - before.moves == plan["queues_dropped"] > 0
        pinned = run_plan(settings, "pinned")
        assert side_of(pinned, "before")[MessageQueue("orders", "main", 0)] == "c3"


def emptied(log: Log, group: str) -> None:
    """Wait until the engine has decided that nobody is in a group."""
    log.await_record(
        "decisions",
        lambda record: (
            body_of(record)["group"] == group and body_of(record)["state"]["phase"] == "empty"
        ),
    )


def test_nobody_is_in_it(settings: Settings, log: Log, spark: "SparkSession") -> None:
    """A group whose members have left is planned from none; who comes back gets what was shown."""
    with Fleet(settings.kafka, QUEUES) as fleet, job(spark, settings, log):
        # Who comes back one by one has what is planned of all at once, whatever came between.
        set_rule(log, "orders", "strategy", {"name": "AVG"})
        clients = [fleet.join(client_id) for client_id in ("c1", "c2")]
        settled(log, "orders", "c1", "c2")
        for client in clients:
            fleet.leave(client)
        emptied(log, "orders")
        nobody = run_plan(settings, "orders")
        assert (nobody["member_plans"], nobody["queues_change"]) == ([], {"before": 0, "after": 0})
        plan = plan_of_rest(settings, "orders", "--join", "c8", "--join", "c9", remarks=1)
        (remark,) = plan["notes"]
        assert "orders has no members: the plan starts from none" in remark
        assert "clients that join subscribe to orders, known from its decisions up to" in remark
        assert [len(each["after"]) for each in plan["member_plans"]] == [5, 4]
        other = run_plan(settings, "orders", "--join", "c9", "--topic", "bills")
        assert other["member_plans"][0]["after"] == []
        assert "the route of bills is unknown: its queues are not in the plan" in other["notes"]
        for client_id in ("c8", "c9"):
            fleet.join(client_id)
        after = settled(log, "orders", "c8", "c9")
        assert owners_of(after) == side_of(plan, "after")


def test_it_has_commits_alone(settings: Settings, log: Log, tmp_path: Path) -> None:
    """A group of commits, or of rules, alone is planned too; what it reads may have to be given."""
    group, topic = f"native-{uuid.uuid4().hex[:8]}", f"t-{uuid.uuid4().hex[:8]}"
    log.append("routes", orjson.dumps({"v": 1, **route(topic, 3)}), topic.encode())
    make_topic(settings.kafka.bootstrap, topic, partitions=3)
    commit(settings.kafka.bootstrap, group, topic, {0: (0, "")})
    saved = str(tmp_path / "plan.json")
    plan = run_plan(settings, group, "--join", "c1", "--save", saved)
    assert len(plan["member_plans"][0]["after"]) == 3
    assert f"subscribe to {topic}, known from what it has committed" in plan["notes"][0]
    again = run_plan(settings, "--file", saved, "--join", "c1", "--topic", topic)
    assert again["member_plans"] == plan["member_plans"]
    set_rule(log, "ruled", "strategy", {"name": "STICKY"})
    with pytest.raises(UsageError, match="c1 has no topic") as refused:
        run_plan(settings, "ruled", "--join", "c1")
    assert "--topic orders" in refused.value.remedy
    plan = run_plan(settings, "ruled", "--join", "c1", "--topic", topic)
    assert len(plan["member_plans"][0]["after"]) == 3
    assert "its topics are unknown" in plan["notes"][0]
    with pytest.raises(UsageError, match="--topic: it is what joining clients subscribe to"):
        run_plan(settings, "ruled", "--topic", topic)
    with pytest.raises(UsageError, match="--topic: 'a b' is no topic"):
        run_plan(settings, "ruled", "--join", "c1", "--topic", "a b")


def state_of_cluster(settings: Settings) -> dict[str, Any]:
    """Return what a command could have changed: topics, ends of their logs, consumer groups."""
    admin = KafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap)
    consumer = KafkaConsumer(bootstrap_servers=settings.kafka.bootstrap)
    described = admin.describe_topics(sorted(consumer.topics()))
    found = {
        "groups": sorted(map(str, admin.list_groups())),
        "topics": {
            topic["name"]: consumer.end_offsets(
                [
                    TopicPartition(topic["name"], number)
                    for number in range(len(topic["partitions"]))
                ]
            )
            for topic in described
        },
    }
    consumer.close()
    admin.close()
    return found


def test_nothing_is_written(
    settings: Settings, log: Log, spark: "SparkSession", tmp_path: Path
) -> None:
    """A plan adds no record, topic, consumer group or commit, and can be saved for later."""
    with Fleet(settings.kafka, QUEUES) as fleet, job(spark, settings, log):
        for client_id in ("c1", "c2"):
            fleet.join(client_id, "orders")
        settled(log, "orders", "c1", "c2")
    before = state_of_cluster(settings)
    saved = tmp_path / "group.json"
    changes = ["--join", "c3", "--leave", "c1", "--route", "orders=12", "--strategy", "STICKY"]
    plan = run_plan(settings, "orders", *changes, "--save", str(saved))
    assert state_of_cluster(settings) == before
    assert len(side_of(plan, "after")) == 12
    from_file = run_plan(settings, "--file", str(saved), *changes)
    assert {**from_file, "notes": plan["notes"]} == plan


def test_what_a_plan_cannot_start_from_is_named(settings: Settings, log: Log) -> None:
    """Error or note name what is missing for a plan: group, strategy, topics or cluster."""
    log.append_of("heartbeats", "bills", b"nonsense")
    with pytest.raises(UsageError, match="there is no group nobody at"):
        run_plan(settings, "nobody", "--join", "c1", "--topic", "orders")
    set_rule(log, "payments", "strategy", {"name": "MINE"})
    client = Client(cast("Topics", log), "payments", "c1")
    client.beat()
    (note,) = [each for each in run_plan(settings, "payments")["notes"] if "MINE" in each]
    assert note.startswith("the engine rejects the rule strategy (there is no strategy 'MINE'")
    before = state_of_cluster(settings)
    elsewhere = settings.model_copy(
        update={"kafka": settings.kafka.model_copy(update={"topic_prefix": "elsewhere."})}
    )
    with pytest.raises(EnvironmentMissingError, match=r"elsewhere\.heartbeats.* missing"):
        run_plan(elsewhere, "orders")
    assert state_of_cluster(settings)["topics"].keys() == before["topics"].keys()
    nowhere = settings.model_copy(
        update={"kafka": settings.kafka.model_copy(update={"bootstrap": "127.0.0.1:1"})}
    )
    with pytest.raises(EnvironmentMissingError, match="no broker accepts a connection"):
        run_plan(nowhere, "orders")
