"""Each role works with the documented rights; without one of them it names that one."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from fairlead_client import (
    Consumer,
    Epoch,
    NotAllowedError,
    Position,
    Progress,
    Queue,
    SendBackError,
    StartFailedError,
)
from fairlead_client.message import Message
from fairlead_client.settings import Settings as ClientSettings
from fairlead_client.transport.offset_store import KafkaOffsetStore
from fairlead_client.transport.send_back import KafkaFailedMessages

from fairlead.bridges.kafka.control_topics import ControlTopics
from fairlead.doctor import Answer, Status, Surroundings
from fairlead.doctor.permissions import permissions
from fairlead.errors import EnvironmentMissingError
from fairlead.settings import Settings, library_options, load_settings
from fairlead.topics import create_topics, topic_specs
from fairlead.topics.rights import RIGHTS, Role
from fairlead.wire.raw import OutgoingRecord
from fairlead.wire.topics import ALL_TOPICS, TopicNames
from streaming.cluster import prepare_topics
from streaming.reading import partition_counts
from streaming.record_writer import write_records
from tests.awaiting import await_seen
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.fixtures.secure_kafka import PASSWORD, Right, SecureKafka

pytestmark = pytest.mark.broker

NAMES: Final = TopicNames("roles.")
GROUP: Final = "orders"
MESSAGES: Final = "roles-messages"
OWN: Final = {role: f"roles-{role.name.lower()}" for role in Role}
"""The user of each role, who has no other."""


def _rights_of(role: Role) -> list[Right]:
    needed = RIGHTS[role]
    roles = (RIGHTS[Role.READER], needed) if role is Role.OPERATOR else (needed,)
    rights = {
        Right(OWN[role], operation, "topic", NAMES.name(suffix))
        for each in roles
        for suffix, operations in each.topics.items()
        for operation in operations
    }
    rights |= {Right(OWN[role], each, "topic", MESSAGES) for each in needed.messages}
    rights |= {Right(OWN[role], each, "group", GROUP) for each in needed.group}
    return sorted(rights)


def _own_topics(role: Role) -> list[tuple[str, str]]:
    """Return each operation that the table gives a role on one of Fairlead's topics."""
    topics = RIGHTS[role].topics
    return [(suffix, each) for suffix, operations in topics.items() for each in operations]


CASES: Final = [(role, each) for role in Role for each in _own_topics(role)]


@pytest.fixture(scope="module")
def broker(secure_kafka: SecureKafka) -> Iterator[SecureKafka]:
    """The broker with Fairlead's topics, and a user of each role with exactly its rights."""
    secure_kafka.add_users([*OWN.values()])
    connection = {"bootstrap_servers": secure_kafka.plain}
    specs = topic_specs(load_settings(overrides=FEW_PARTITIONS).topics)
    create_topics(connection, NAMES.prefix, specs, 1)
    with contextlib.closing(secure_kafka.admin()) as admin:
        admin.create_topics({MESSAGES: {"num_partitions": 1, "replication_factor": 1}})
    secure_kafka.allow([right for role in Role for right in _rights_of(role)])
    yield secure_kafka
    with contextlib.closing(secure_kafka.admin()) as admin:
        admin.delete_topics([MESSAGES, *(NAMES.name(suffix) for suffix in ALL_TOPICS)])


@pytest.fixture
def settings(broker: SecureKafka, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """The settings of the user of the test's role."""
    secret = tmp_path / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    own = {
        "kafka.bootstrap": broker.secure,
        "kafka.topic_prefix": NAMES.prefix,
        "engine.checkpoint": str(tmp_path / "state"),
        "kafka.security.security_protocol": "SASL_SSL",
        "kafka.security.sasl_mechanism": "SCRAM-SHA-512",
        "kafka.security.sasl_plain_username": OWN[request.node.callspec.params["role"]],
        "kafka.security.sasl_plain_password_file": str(secret),
        "kafka.security.ssl_cafile": str(broker.certificates.authority),
    }
    return load_settings(overrides={**FEW_PARTITIONS, **own})


def _begin(role: Role, settings: Settings, broker: SecureKafka) -> None:
    """Do what a role does first, or with its right to write."""
    kafka = settings.kafka
    match role:
        case Role.ENGINE:
            prepare_topics(settings, may_create=False)
        case Role.BRIDGE:
            options = library_options(kafka)
            with ControlTopics(kafka.bootstrap, NAMES, timeout_ms=5_000, options=options) as bridge:
                list(bridge.routes())
        case Role.READER:
            partition_counts(kafka, [NAMES.name(suffix) for suffix in ALL_TOPICS])
        case Role.OPERATOR:
            for suffix in RIGHTS[role].topics:
                write_records(kafka, [OutgoingRecord(NAMES.name(suffix), 0, b"x", b"{}")])
        case Role.CLIENT:
            with _consumer(broker):
                pass
        case Role.PRODUCER:
            pass


def _consumer(broker: SecureKafka) -> Consumer:
    return Consumer(
        bootstrap=broker.secure,
        group=GROUP,
        topics=[MESSAGES],
        prefix=NAMES.prefix,
        kafka=broker.security(OWN[Role.CLIENT]),
        lease_ms=6_000,
        heartbeat_ms=1_500,
        start_timeout_ms=2_500,
    )


def _release_nothing(consumer: Consumer) -> None:
    """Let the client hand over a release, as it does with each queue that it gives away."""
    thread = consumer._thread  # noqa: SLF001 - to own a queue takes an engine
    assert thread is not None
    assert thread._writer is not None  # noqa: SLF001
    thread._writer._hand_over(b"{}", None)  # noqa: SLF001


def _lack_a_retry_topic(broker: SecureKafka) -> None:
    """Send a message back, for which there is no topic."""
    message = Message(Queue(MESSAGES, "kafka", 0), 0, None, b"", (), 0, Epoch(1, 1))
    failed = KafkaFailedMessages(_client_settings(broker), "rights")
    with contextlib.closing(failed), pytest.raises(SendBackError):
        failed.send_back(message, 1, 0)


def _client_settings(broker: SecureKafka) -> ClientSettings:
    return ClientSettings(
        bootstrap=broker.secure,
        group=GROUP,
        topics=[MESSAGES],
        prefix=NAMES.prefix,
        kafka=broker.security(OWN[Role.CLIENT]),
    )


def _found(settings: Settings, role: Role, groups: tuple[str, ...] = ()) -> list[Answer]:
    around = Surroundings(settings, groups=groups, role=role)
    with contextlib.closing(around.cluster):
        return [each for each in permissions(around) if each.status is not Status.WARN]


@pytest.mark.parametrize("role", Role, ids=lambda role: role.name.lower())
def test_the_documented_rights_are_enough(
    broker: SecureKafka, settings: Settings, role: Role
) -> None:
    """Every role begins its work, and the doctor finds nothing that it lacks."""
    _begin(role, settings, broker)
    assert {each.status for each in _found(settings, role)} == {Status.OK}


@pytest.mark.parametrize(
    "role,needed",
    CASES,
    ids=[f"{role.name.lower()}-{suffix}-{each}" for role, (suffix, each) in CASES],
)
def test_each_right_that_is_missing_is_named(
    broker: SecureKafka,
    settings: Settings,
    role: Role,
    needed: tuple[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The process itself and the doctor name the role, the operation and the topic."""
    suffix, operation = needed
    name = NAMES.name(suffix)
    right = Right(OWN[role], operation, "topic", name)
    broker.forbid(right)
    try:
        if role is Role.CLIENT and suffix == "handovers":
            # It works without: successors hear of releases from the engine. The log says so.
            told = f"clients need {operation} on topic {name}"
            with _consumer(broker) as consumer:
                if operation == "Write":
                    _release_nothing(consumer)
                await_seen(lambda: told in caplog.text, what="the log")
        elif role is Role.CLIENT and suffix == "requests":
            # It works without, but where it lacks its retry topic it has none made.
            _lack_a_retry_topic(broker)
            told = f"clients need {operation} on topic {name}"
            await_seen(lambda: told in caplog.text, what="the log")
        elif role is Role.CLIENT:
            words = f"clients need {operation} on topic .*{re.escape(name)}"
            with pytest.raises(StartFailedError, match=words):
                _begin(role, settings, broker)
        elif role is not Role.PRODUCER:
            who = role.partition(",")[0]
            # Of a topic that may not be seen, nothing is known to be allowed.
            lacks = f"{operation}( and \\w+)* on .*{name}"
            words = f"User:{OWN[role]}, {re.escape(who)} lacks? a right: .*{lacks}"
            with pytest.raises(EnvironmentMissingError, match=words) as lack:
                _begin(role, settings, broker)
            assert f"--operation {operation}" in lack.value.remedy
            assert f"--topic '{name}'" in lack.value.remedy
        if operation != "DescribeConfigs":  # the check `topics` has those
            failed = [each for each in _found(settings, role) if each.status is Status.FAIL]
            assert [name in each.says and role in each.says for each in failed] == [True]
            assert f"--operation {operation}" in failed[0].remedy
    finally:
        broker.allow([right])


@pytest.mark.parametrize("role", [Role.CLIENT])
def test_a_commit_without_read_on_the_group_is_named(
    broker: SecureKafka, settings: Settings, role: Role
) -> None:
    """The client says which right is missing on which group; the doctor fails for clients."""
    store = KafkaOffsetStore(_client_settings(broker), "rights")
    queue = Queue(MESSAGES, "kafka", 0)
    entries = {queue: Progress(queue, Epoch(1, 1), Position(0, 0))}
    right = Right(OWN[role], "Read", "group", GROUP)
    with contextlib.closing(store):
        store.commit(entries, 20_000)
        assert {each.status for each in _found(settings, role, (GROUP,))} == {Status.OK}
        broker.forbid(right)
        try:
            with pytest.raises(
                NotAllowedError, match=f"clients need Read on group {GROUP}"
            ) as lack:
                store.commit(entries, 20_000)
            assert (lack.value.operation, lack.value.resource) == ("Read", f"group {GROUP}")
            failed = [
                each for each in _found(settings, role, (GROUP,)) if each.status is Status.FAIL
            ]
            assert [each.says for each in failed] == [f"clients may not read the group {GROUP}"]
            assert f"--operation Read --group '{GROUP}'" in failed[0].remedy
        finally:
            broker.allow([right])
