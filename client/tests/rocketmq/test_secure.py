"""Encryption and logins on real brokers: producer, consumers and commits, and who has neither."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fairlead_client import (
    FairleadClientError,
    OutgoingMessage,
    Producer,
    SendFailedError,
    StartFailedError,
    Subscription,
)
from fairlead_client.model import Epoch, Position, Progress
from fairlead_client.rocketmq.queue_offsets import RocketMQOffsetStore
from fairlead_client.rocketmq.rocketmq_message import PulledMessage
from fairlead_client.rocketmq.rocketmq_source import RocketMQSource
from fairlead_client.rocketmq.sent_back import RocketMQFailedMessages
from fairlead_client.settings.client_settings import Settings

from tests.access.certificates import Authority
from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_topic import RocketMQTopic

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.slow, pytest.mark.broker, pytest.mark.timeout(480)]

ADMIN = {"access_key": "rocketadmin", "secret_key": "secret-of-admin"}
APPLICATION = {"access_key": "orders-app", "secret_key": "secret-of-orders"}
ACCOUNTS = """globalWhiteRemoteAddresses: []
accounts:
- accessKey: rocketadmin
  secretKey: secret-of-admin
  admin: true
- accessKey: orders-app
  secretKey: secret-of-orders
  defaultTopicPerm: DENY
  defaultGroupPerm: SUB
  topicPerms:
  - orders=PUB|SUB
"""
AUTHENTICATION = {
    "authenticationEnabled": "true",
    "authenticationProvider": (
        "org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider"
    ),
    "authenticationMetadataProvider": (
        "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider"
    ),
    "initAuthenticationUser": '{"username":"rocketadmin","password":"secret-of-admin"}',
    "innerClientAuthenticationCredentials": (
        '{"accessKey":"rocketadmin","secretKey":"secret-of-admin"}'
    ),
}
"""The access control of 5.x, which replaces that of 4.x."""


class Secure(NamedTuple):
    """A cluster, what an application gives in `rocketmq=`, and what its admin gives."""

    cluster: "EmbeddedRocketMQ"
    application: Mapping[str, Any]
    admin: Mapping[str, Any]


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """A broker of 4.9.7 that takes TLS alone, and asks for logins."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ, ServerExtras

    folder = tmp_path_factory.mktemp("encrypted")
    authority = Authority(folder)
    pair = authority.server()
    tls = folder / "tls.properties"
    lines = {
        "tls.test.mode.enable": "false",
        "tls.server.need.client.auth": "none",
        "tls.server.certPath": str(pair.certificate),
        "tls.server.keyPath": str(pair.key),
    }
    tls.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    accounts = folder / "broker-a" / "conf" / "plain_acl.yml"
    accounts.parent.mkdir(parents=True)
    accounts.write_text(ACCOUNTS)
    # The broker's own connection to the name server is in the clear, which "permissive" takes.
    both = f"-Dtls.config.file={tls}"
    cluster = EmbeddedRocketMQ(
        folder,
        version="4.9.7",
        properties={"aclEnable": "true"},
        extras={
            "namesrv-1": ServerExtras(jvm=[both, "-Dtls.server.mode=permissive"]),
            "broker-a": ServerExtras(jvm=[both, "-Dtls.server.mode=enforcing"]),
        },
    )
    trust = {"tls": True, "tls_ca_file": str(authority.file)}
    with cluster:
        for topic in ("orders", "secrets"):
            RocketMQTopic(cluster, topic, options=trust | ADMIN).close()
        yield Secure(cluster, trust | APPLICATION, trust | ADMIN)


@pytest.fixture(scope="module")
def authenticating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """A broker of 5.3.3 that asks for logins by the access control of 5.x."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

    folder = tmp_path_factory.mktemp("authenticating")
    properties = AUTHENTICATION | {"authConfigPath": str(folder / "auth")}
    with EmbeddedRocketMQ(folder, version="5.3.3", properties=properties) as cluster:
        RocketMQTopic(cluster, "orders", options=ADMIN).close()
        yield Secure(cluster, ADMIN, ADMIN)


@pytest.fixture(params=["encrypted", "authenticating"])
def secure(request: pytest.FixtureRequest) -> Secure:
    """Each of both clusters."""
    found: Secure = request.getfixturevalue(request.param)
    return found


def _producer(secure: Secure, options: Mapping[str, Any]) -> Producer:
    namesrv = secure.cluster.namesrv
    return Producer(
        data_plane="rocketmq", namesrv=namesrv, rocketmq=options, start_timeout_ms=2_000
    )


def _settings(secure: Secure, options: Mapping[str, Any]) -> Settings:
    return Settings(
        bootstrap="unused:1",
        group="readers",
        topics=[Subscription("orders")],
        data_plane="rocketmq",
        namesrv=secure.cluster.namesrv,
        rocketmq=options,
    )


def test_messages_commits_and_failed_ones(secure: Secure) -> None:
    """A message is sent, read, sent back and committed with a login."""
    with _producer(secure, secure.application) as producer:
        sent = producer.send(OutgoingMessage("orders", b"order 17", tag="new"))
    settings = _settings(secure, secure.application)
    source = RocketMQSource(settings)
    source.connect()
    source.follow([sent.queue])
    place = {sent.queue: sent.offset}
    result = await_seen(lambda: source.pull(place, 500), what="a message")[sent.queue]
    assert result.error is None
    (message,) = result.records
    assert isinstance(message, PulledMessage)
    assert message.value == b"order 17"
    keeper = RocketMQFailedMessages(settings)
    keeper.send_back(message.message(sent.queue, Epoch(1, 1)), 1, 1)
    keeper.close()
    store = RocketMQOffsetStore(settings.rocketmq_settings, "readers")
    store.commit(
        {sent.queue: Progress(sent.queue, Epoch(1, 1), Position(0, sent.offset + 1))}, 5_000
    )
    store.close()
    source.close()
    topic = RocketMQTopic(secure.cluster, "orders", options=secure.admin)
    group = topic.offsets("readers")
    await_seen(
        lambda: group.committed(sent.queue), lambda at: at == sent.offset + 1, what="the commit"
    )
    topic.close()


@pytest.mark.parametrize(
    "login",
    [
        {"access_key": None, "secret_key": None},
        {"secret_key": "another one"},
        {"access_key": "nobody"},
    ],
)
def test_a_wrong_login(secure: Secure, login: Mapping[str, str | None]) -> None:
    """Producer and consumer get an error that names the settings; no other broker is tried."""
    options = {
        name: value for name, value in {**secure.application, **login}.items() if value is not None
    }
    with _producer(secure, options) as producer:
        with pytest.raises(SendFailedError, match="; check access_key and secret_key") as raised:
            producer.send(OutgoingMessage("orders", b"1"))
        assert len(raised.value.attempts) == 1
    source = RocketMQSource(_settings(secure, options))
    source.connect()
    queue = raised.value.attempts[0].queue
    source.follow([queue])
    result = await_seen(lambda: source.pull({queue: 0}, 500), what="an answer")[queue]
    assert isinstance(result.error, FairleadClientError)
    assert "; check access_key and secret_key" in str(result.error)
    source.close()


def test_a_topic_without_a_right(encrypted: Secure) -> None:
    """The broker's word names the topic, the error the remedy."""
    with (
        _producer(encrypted, encrypted.application) as producer,
        pytest.raises(SendFailedError, match=r"permission for topic:secrets; .*what they may do"),
    ):
        producer.send(OutgoingMessage("secrets", b"1"))


def test_in_the_clear(encrypted: Secure) -> None:
    """A broker that takes TLS alone hangs up, and the error says what it may want."""
    with (
        _producer(encrypted, APPLICATION) as producer,
        pytest.raises(SendFailedError, match="hung up without an answer; if it asks for TLS"),
    ):
        producer.send(OutgoingMessage("orders", b"1"))


def test_a_certificate_of_somebody_else(encrypted: Secure, tmp_path: Path) -> None:
    """Nothing is sent to a server whose certificate another authority has signed."""
    options = {**encrypted.application, "tls_ca_file": str(Authority(tmp_path, "other").file)}
    producer = _producer(encrypted, options)
    with pytest.raises(StartFailedError, match=r"certificate is not trusted: .*; give its CA as"):
        producer.start()
