"""Each role works with the documented rights; without one of them it names that one."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from fairlead_client import (
    Consumer,
    Epoch,
    NoRouteError,
    NotAllowedError,
    OutgoingMessage,
    Position,
    Producer,
    Progress,
    Queue,
    SendBackError,
    StartFailedError,
)
from fairlead_client.consume.retry.send_back import KafkaFailedMessages
from fairlead_client.message import Message
from fairlead_client.settings.client_settings import Settings as ClientSettings
from fairlead_client.transport.offset_store import KafkaOffsetStore
from fairlead_client.transport.route_reader import RouteReader
from fairlead_client.transport.session_thread import SessionThread
from kafka.errors import KafkaTimeoutError

from fairlead.bridges.control_topics import ControlTopics
from fairlead.doctor import Answer, CheckContext, Status
from fairlead.doctor.permissions import permissions
from fairlead.errors import EnvironmentMissingError
from fairlead.gateway.log_writer import LogWriter
from fairlead.kafka.acls import RIGHTS, Role
from fairlead.kafka.connection import library_options
from fairlead.kafka.partition_reading import partition_counts
from fairlead.kafka.record_writer import write_records
from fairlead.settings import Settings
from fairlead.wire.raw import OutgoingRecord
from fairlead.wire.topics import ALL_TOPICS
from streaming.cluster import prepare_topics
from tests.fixtures.secure_kafka import Right, SecureKafka
from tests.kit.awaiting import SECONDS, await_seen, ended
from tests.secure.domain import Domain, domain_of

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

pytestmark = pytest.mark.broker

DOMAIN: Final = "roles"


def _own_topics(role: Role) -> list[tuple[str, str]]:
    """Return each operation that the table gives a role on one of Fairlead's topics."""
    topics = RIGHTS[role].topics
    return [(suffix, each) for suffix, operations in topics.items() for each in operations]


def _case(role: Role, needed: tuple[str, str]) -> "ParameterSet":
    """Return a case; a client's start fails in the same ten seconds whatever is missing."""
    waits = role is Role.CLIENT and needed[0] not in ("handovers", "routes", "requests")
    marks = [pytest.mark.slow] if waits and needed != ("heartbeats", "Write") else []
    return pytest.param(role, needed, marks=marks, id="-".join((role.name.lower(), *needed)))


CASES: Final = [_case(role, each) for role in Role for each in _own_topics(role)]


@pytest.fixture(scope="module")
def domain(secure_kafka: SecureKafka) -> Iterator[Domain]:
    """Fairlead's topics, and a user of each role with exactly its rights."""
    with domain_of(secure_kafka, DOMAIN) as made:
        yield made


@pytest.fixture
def settings(domain: Domain, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """The settings of the user of the test's role."""
    return domain.settings(request.node.callspec.params["role"], tmp_path)


def _begin(role: Role, settings: Settings, domain: Domain) -> None:
    """Do what a role does first, or with its right to write."""
    kafka = settings.kafka
    match role:
        case Role.ENGINE:
            prepare_topics(settings, may_create=False)
        case Role.BRIDGE:
            options = library_options(kafka)
            with ControlTopics(
                kafka.bootstrap, domain.names, timeout_ms=5_000, options=options
            ) as bridge:
                list(bridge.routes())
        case Role.READER:
            partition_counts(kafka, [domain.names.name(suffix) for suffix in ALL_TOPICS])
        case Role.OPERATOR:
            for suffix in RIGHTS[role].topics:
                write_records(kafka, [OutgoingRecord(domain.names.name(suffix), 0, b"x", b"{}")])
        case Role.GATEWAY:
            LogWriter(kafka, 5_000).close()
        case Role.CLIENT:
            with _consumer(domain):
                pass
        case Role.PRODUCER:
            pass


def _consumer(domain: Domain) -> Consumer:
    return Consumer(
        **domain.client(),
        group=domain.group,
        topics=[domain.messages],
        lease_ms=6_000,
        heartbeat_ms=1_500,
        start_timeout_ms=10_000,
    )


def _release_nothing(consumer: Consumer) -> None:
    """Let the client hand over a release, as it does with each queue that it gives away."""
    thread = consumer._thread  # noqa: SLF001 - to own a queue takes an engine
    assert isinstance(thread, SessionThread)
    assert thread._writer is not None  # noqa: SLF001
    thread._writer._send_handover(b"{}", None)  # noqa: SLF001


def _found(settings: Settings, role: Role, groups: tuple[str, ...] = ()) -> list[Answer]:
    """Return what the doctor finds of a role's rights, once the broker answers it in time.

    The doctor waits four seconds for an answer: a login takes longer where much else is done.
    """
    until = time.monotonic() + SECONDS
    while True:
        context = CheckContext(settings, groups=groups, role=role)
        with contextlib.closing(context.cluster):
            try:
                return [each for each in permissions(context) if each.status is not Status.WARN]
            except KafkaTimeoutError:
                if time.monotonic() > until:
                    raise


@pytest.mark.parametrize("role", Role, ids=lambda role: role.name.lower())
def test_the_documented_rights_are_enough(domain: Domain, settings: Settings, role: Role) -> None:
    """Every role begins its work, and the doctor finds nothing that it lacks."""
    _begin(role, settings, domain)
    assert {each.status for each in _found(settings, role)} == {Status.OK}


def _names_it(
    role: Role, needed: tuple[str, str], settings: Settings, domain: Domain, told: Callable[[], str]
) -> None:
    """Let the process of a role meet the lack of a right, and check that it names it."""
    suffix, operation = needed
    name = domain.names.name(suffix)
    words = f"{role} need {operation} on topic .*{re.escape(name)}.*'User:{domain.user(role)}'"
    if role is Role.CLIENT and suffix in ("handovers", "routes"):
        # It works without: it hears of releases from the engine, and nobody else reads routes.
        with _consumer(domain) as consumer, _route_reader(domain):
            if (suffix, operation) == ("handovers", "Write"):
                _release_nothing(consumer)
            await_seen(told, lambda text: re.search(words, text), what="log")
    elif role is Role.CLIENT and suffix == "requests":
        # It works without, but where it lacks its retry topic it has none made.
        _lack_a_retry_topic(domain)
        await_seen(told, lambda text: re.search(words, text), what="log")
    elif role is Role.CLIENT:
        with pytest.raises(StartFailedError, match=words):
            _begin(role, settings, domain)
    elif role is Role.PRODUCER and suffix == "requests":
        with (
            Producer(**domain.client(role)) as producer,
            pytest.raises(NoRouteError, match=words) as alone,
        ):
            producer.send(OutgoingMessage("nobody-knows-it", b"value"), timeout_ms=4_000)
        assert isinstance(alone.value.__cause__, NotAllowedError)
    elif role is Role.PRODUCER:
        with pytest.raises(StartFailedError, match=words):
            Producer(**domain.client(role), start_timeout_ms=4_000).start()
    else:
        who = role.partition(",")[0]
        # Of a topic that may not be seen, nothing is known to be allowed.
        lacks = f"{operation}( and \\w+)* on .*{name}"
        words = f"User:{domain.user(role)}, {re.escape(who)} lacks? a right: .*{lacks}"
        with pytest.raises(EnvironmentMissingError, match=words) as lack:
            _begin(role, settings, domain)
        assert f"--operation {operation}" in lack.value.remedy
        assert f"--topic '{name}'" in lack.value.remedy


def _lack_a_retry_topic(domain: Domain) -> None:
    """Send a message back, for which there is no topic."""
    message = Message(Queue(domain.messages, "kafka", 0), 0, None, b"", (), 0, Epoch(1, 1))
    failed = KafkaFailedMessages(_client_settings(domain), "rights")
    with contextlib.closing(failed), pytest.raises(SendBackError):
        failed.send_back(message, 1, 0)


def _client_settings(domain: Domain) -> ClientSettings:
    return ClientSettings(**domain.client(), group=domain.group, topics=[domain.messages])


@contextlib.contextmanager
def _route_reader(domain: Domain) -> Iterator[None]:
    """Read routes, as clients do that broadcast or listen for changed queues."""
    reader = RouteReader(_client_settings(domain), "rights", lambda _topic, _route: None)
    reader.start()
    yield
    reader.stop()
    ended(reader)


@pytest.mark.parametrize(
    "role,needed",
    CASES,
)
def test_each_right_that_is_missing_is_named(
    domain: Domain,
    settings: Settings,
    role: Role,
    needed: tuple[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The process itself and the doctor name the role, the operation and the topic."""
    suffix, operation = needed
    name = domain.names.name(suffix)
    right = Right(domain.user(role), operation, "topic", name)
    domain.broker.forbid(right)
    try:
        _names_it(role, needed, settings, domain, lambda: caplog.text)
        if operation != "DescribeConfigs":  # the check `topics` has those
            failed = [each for each in _found(settings, role) if each.status is Status.FAIL]
            assert [name in each.says and role in each.says for each in failed] == [True]
            assert f"--operation {operation}" in failed[0].remedy
    finally:
        domain.broker.allow([right])


@pytest.mark.parametrize("role", [Role.CLIENT])
def test_a_commit_without_read_on_the_group_is_named(
    domain: Domain, settings: Settings, role: Role
) -> None:
    """The client says which right is missing on which group; the doctor fails for clients."""
    store = KafkaOffsetStore(_client_settings(domain), "rights")
    queue = Queue(domain.messages, "kafka", 0)
    entries = {queue: Progress(queue, Epoch(1, 1), Position(0, 0))}
    right = Right(domain.user(role), "Read", "group", domain.group)
    with contextlib.closing(store):
        store.commit(entries, 20_000)
        assert {each.status for each in _found(settings, role, (domain.group,))} == {Status.OK}
        domain.broker.forbid(right)
        try:
            with pytest.raises(
                NotAllowedError, match=f"clients need Read on group {domain.group}"
            ) as lack:
                store.commit(entries, 20_000)
            assert (lack.value.operation, lack.value.resource) == ("Read", f"group {domain.group}")
            failed = [
                each
                for each in _found(settings, role, (domain.group,))
                if each.status is Status.FAIL
            ]
            assert [each.says for each in failed] == [
                f"clients may not read the group {domain.group}"
            ]
            assert f"--operation Read --group '{domain.group}'" in failed[0].remedy
        finally:
            domain.broker.allow([right])
