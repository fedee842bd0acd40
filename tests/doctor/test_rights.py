"""The doctor and brokers that keep rights: it names what this user lacks, with the command."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourceType,
)

from fairlead.broker import EmbeddedKafka
from fairlead.doctor import Answer, CheckContext, Status, examine_all
from fairlead.doctor.catalogue import CHECKS
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.acls import RIGHTS, Role
from fairlead.kafka.topic_creation import create_topics, inspect_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from tests.fixtures.kafka import FEW_PARTITIONS

pytestmark = pytest.mark.broker

ME = "User:ANONYMOUS"
WANTED = ("broker", "topics", "permissions")


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """A broker on which whoever is named for a topic is the only one who may use it."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with EmbeddedKafka(tmp_path_factory.mktemp("strict"), properties=properties) as kafka:
        yield kafka


def _allow(admin: KafkaAdminClient, topic: str, operation: str, who: str = ME) -> None:
    pattern = ResourcePattern(ResourceType.TOPIC, topic, ACLResourcePatternType.LITERAL)
    word = re.sub("(?<=[a-z])(?=[A-Z])", "_", operation).upper()
    right = (who, "*", ACLOperation[word], ACLPermissionType.ALLOW, pattern)
    answer = admin.create_acls([ACL(*right)])
    assert answer["failed"] == []
    deadline = time.monotonic() + 30
    # The controller answers before the broker goes by it: each look asks the broker.
    while not admin.describe_acls(ACLFilter(*right))[0]:
        assert time.monotonic() < deadline, right


def _answers(settings: Settings) -> dict[str, list[Answer]]:
    context = CheckContext(settings)
    checks = [check for check in CHECKS if check.name in WANTED]
    found: dict[str, list[Answer]] = {name: [] for name in WANTED}
    with contextlib.closing(context.cluster):
        for each in examine_all(context, checks):
            found[each.check].append(each.answer)
    return found


@pytest.mark.slow  # tests/secure runs a whole system under the documented rights
def test_from_no_right_to_those_that_are_documented(strict: EmbeddedKafka, tmp_path: Path) -> None:
    """What is not to be seen is not taken for missing or wrong, and each command mends its part."""
    own = {"kafka.bootstrap": strict.bootstrap, "engine.checkpoint": str(tmp_path / "state")}
    settings = load_settings(overrides={**FEW_PARTITIONS, **own})
    connection, prefix = {"bootstrap_servers": strict.bootstrap}, settings.kafka.topic_prefix
    specs = topic_specs(settings.topics)
    create_topics(connection, prefix, specs, 1)
    with contextlib.closing(KafkaAdminClient(**connection)) as admin:
        for spec in specs:
            _allow(admin, prefix + spec.suffix, "Read", "User:somebody-else")
        found = _answers(settings)
        (hidden,) = found["topics"]
        assert (hidden.status, "may not see" in hidden.says) == (Status.FAIL, True)
        assert "missing" not in hidden.says
        assert hidden.remedy.startswith(f"kafka-acls.sh --bootstrap-server {strict.bootstrap} ")
        assert f"--allow-principal '{ME}' --operation Describe --topic" in hidden.remedy
        assert found["permissions"][0].status is Status.UNKNOWN

        for spec in specs:
            _allow(admin, prefix + spec.suffix, "Describe")
        found = _answers(settings)
        (unseen,) = found["topics"]
        assert (unseen.status, "may not read" in unseen.says) == (Status.FAIL, True)
        assert "--operation DescribeConfigs --topic" in unseen.remedy
        with pytest.raises(EnvironmentMissingError, match="may not read the settings of"):
            inspect_topics(connection, prefix, specs)
        failing = [each for each in found["permissions"] if each.status is Status.FAIL]
        says = [each.says.partition(" fairlead.")[0] for each in failing]
        assert says == [
            f"the engine may not {what}" for what in ("read and write", "read", "write")
        ]
        both = "--operation Read --operation Write --topic 'fairlead.heartbeats'"
        assert both in failing[0].remedy

        for suffix, operations in RIGHTS[Role.ENGINE].topics.items():
            for operation in operations:
                _allow(admin, prefix + suffix, operation)
        found = _answers(settings)
    assert [each.status for each in found["topics"]] == [Status.OK]
    assert {each.status for each in found["permissions"]} == {Status.OK, Status.WARN}
    assert inspect_topics(connection, prefix, specs).differences == ()
