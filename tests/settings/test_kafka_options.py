"""One block for both Kafka libraries: each gets what it knows, and nothing else can be set."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fairlead_client import Consumer
from fairlead_client.settings.common_settings import KAFKA_OPTIONS
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.net.manager import KafkaConnectionManager

from fairlead.errors import UsageError
from fairlead.kafka.connection import client_options, library_options, sink_options, spark_options
from fairlead.settings import KafkaSettings, SettingsError, load_settings
from fairlead.settings.kafka_options import (
    TRANSLATIONS,
    application_options,
    effective_options,
    java_options,
)
from fairlead.settings.kafka_refusals import refusal_of
from fairlead.settings.known_keys import known_keys

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CANARY = 'hunter2"\\;'
NOT_FOR_LIBRARIES = {"kafka.topic_prefix", "kafka.replication_factor"}


@pytest.fixture
def whole(tmp_path: Path) -> KafkaSettings:
    """Every option of the block, set."""
    for name in ("ca.pem", "client.pem", "client-key.pem"):
        (tmp_path / name).write_text(f"-----BEGIN {name}-----\n", encoding="ascii")
    (tmp_path / "password").write_text(CANARY + "\n", encoding="utf-8")
    security = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "fairlead",
        "sasl_plain_password_file": str(tmp_path / "password"),
        "ssl_cafile": str(tmp_path / "ca.pem"),
        "ssl_certfile": str(tmp_path / "client.pem"),
        "ssl_keyfile": str(tmp_path / "client-key.pem"),
        "ssl_key_password_file": str(tmp_path / "password"),
        "ssl_check_hostname": False,
    }
    overrides = {f"kafka.security.{name}": value for name, value in security.items()}
    for known in known_keys():
        if known.key[:2] == ("kafka", "connection"):
            overrides[known.dotted] = known.example
    return load_settings(overrides={"kafka.bootstrap": "a:1,b:2", **overrides}).kafka


def test_every_option_reaches_both_libraries(whole: KafkaSettings) -> None:
    """Every option of the block that is for a library reaches both, by the names of the list."""
    keys = {known.dotted.removesuffix("_file") for known in known_keys() if known.key[0] == "kafka"}
    assert {each.key for each in TRANSLATIONS} == keys - NOT_FOR_LIBRARIES
    assert {*application_options(whole), "bootstrap_servers"} == {
        name for each in TRANSLATIONS for name in each.library
    }
    assert {*java_options(whole)} == {name for each in TRANSLATIONS for name in each.java}


def test_the_python_library_knows_each_option(whole: KafkaSettings) -> None:
    """The Python library knows each option that it gets, in each of its clients."""
    options = client_options(whole, "test")
    assert options["bootstrap_servers"] == ["a:1", "b:2"]
    assert options["sasl_plain_password"] == CANARY
    assert options["ssl_check_hostname"] is False
    for client in (KafkaAdminClient, KafkaConsumer, KafkaProducer):
        assert set(options) <= set(client.DEFAULT_CONFIG)
    setup = options["kafka_client"].keywords
    assert set(setup) <= set(KafkaConnectionManager.DEFAULT_CONFIG)
    # It does not grow: a frozen broker would hold up its clients for longer and longer.
    assert len(set(setup.values())) == 1


def test_the_library_of_an_application_takes_the_same_options(whole: KafkaSettings) -> None:
    """An application's own client takes the same options as they are."""
    options = application_options(whole)
    assert set(options) <= KAFKA_OPTIONS
    Consumer(bootstrap="a:1", group="g", topics=["t"], kafka=options)


def test_the_java_library_knows_each_option(whole: KafkaSettings, spark: "SparkSession") -> None:
    """Spark's Kafka library knows each option that it gets, and accepts its value."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001 - pyspark has no public way to its JVM
    assert jvm is not None
    options = java_options(whole)
    package = jvm.org.apache.kafka.clients
    for kind in (
        package.consumer.ConsumerConfig,
        package.producer.ProducerConfig,
        package.admin.AdminClientConfig,
    ):
        assert set(options) <= set(kind.configNames())
    # Spark's options are case-insensitive text: what is no number here would be refused there.
    parsed = package.admin.AdminClientConfig(jvm.java.util.HashMap(options)).values()
    assert parsed["metadata.max.age.ms"] == 60_000
    assert parsed["sasl.jaas.config"].value() == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="fairlead" password="hunter2\\"\\\\;";'
    )
    engine = load_settings().engine
    told = spark_options(whole, engine)
    assert {name.removeprefix("kafka.") for name in told} == {
        *options, "request.timeout.ms", "retry.backoff.max.ms",
    }  # fmt: skip


def test_a_connection_waits_no_longer_than_an_answer() -> None:
    """A connection may take no longer than an answer; the sink alone asks often who leads."""
    settings = load_settings()
    told = spark_options(settings.kafka, settings.engine)
    for name in (
        "request.timeout.ms",
        "socket.connection.setup.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
    ):
        assert told[f"kafka.{name}"] == str(settings.engine.request_timeout_ms)
    assert told["kafka.retry.backoff.max.ms"] == told["kafka.reconnect.backoff.max.ms"] == "200"
    age_ms = str(settings.engine.metadata_max_age_ms)
    assert sink_options(settings.kafka, settings.engine) == {
        **told,
        "kafka.metadata.max.age.ms": age_ms,
    }
    assert "kafka.metadata.max.age.ms" not in told


def test_a_first_answer_may_take_four_servers() -> None:
    """A first answer is waited for as long as four servers may take, not for 30 s."""
    assert library_options(load_settings().kafka)["bootstrap_timeout_ms"] == 8_000
    for name in ("request_timeout_ms", "socket_connection_setup_timeout_ms"):
        kafka = load_settings(overrides={f"kafka.connection.{name}": 9_000}).kafka
        assert library_options(kafka)["bootstrap_timeout_ms"] == 36_000


def test_both_libraries_give_up_a_silent_broker_after_2_seconds() -> None:
    """Without anything of the user's, both libraries give up a silent broker after 2 s."""
    kafka = load_settings().kafka
    assert application_options(kafka) == {
        "security_protocol": "PLAINTEXT",
        "ssl_check_hostname": True,
        "request_timeout_ms": 2_000,
        "socket_connection_setup_timeout_ms": 2_000,
        "socket_connection_setup_timeout_max_ms": 2_000,
        "reconnect_backoff_max_ms": 1_000,
    }
    assert java_options(kafka) == {
        "bootstrap.servers": "localhost:9092",
        "security.protocol": "PLAINTEXT",
        "socket.connection.setup.timeout.ms": "2000",
        "socket.connection.setup.timeout.max.ms": "2000",
        "reconnect.backoff.max.ms": "1000",
    }


def test_no_secret_is_shown(whole: KafkaSettings) -> None:
    """No representation of options or settings shows a secret, or the key of a certificate."""
    shown = repr(library_options(whole)) + repr(java_options(whole)) + f"{effective_options(whole)}"
    for secret in ("hunter2", "BEGIN client-key"):
        assert secret not in shown + repr(whole)
    assert "********" in shown


def test_each_option_is_shown_once_with_its_setting(whole: KafkaSettings) -> None:
    """A person sees each option of each library once, with the setting that it is from."""
    told = effective_options(whole)
    assert len({(each.library, each.option) for each in told}) == len(told)
    assert {each.library for each in told} == {"kafka-python", "Spark"}
    (mechanism,) = (each for each in told if each.option == "kafka.sasl.mechanism")
    assert (mechanism.setting, mechanism.value) == (
        "kafka.security.sasl_mechanism",
        "SCRAM-SHA-512",
    )


@pytest.mark.parametrize(
    "content, words", [(None, "is unreadable"), (b"\n", "is empty"), (b"\xff", "no UTF-8")]
)
def test_a_wrong_password_file_is_named(content: bytes | None, words: str, tmp_path: Path) -> None:
    """A password file that is not there, is empty or is no text is named, with what is wrong."""
    path = tmp_path / "password"
    if content is not None:
        path.write_bytes(content)
    overrides = {
        "kafka.security.security_protocol": "SASL_SSL",
        "kafka.security.sasl_mechanism": "PLAIN",
        "kafka.security.sasl_plain_username": "fairlead",
        "kafka.security.sasl_plain_password_file": str(path),
    }
    with pytest.raises(UsageError, match=f"sasl_plain_password_file: .*{words}"):
        library_options(load_settings(overrides=overrides).kafka)


@pytest.mark.parametrize(
    "option, reason, remedy",
    [
        ("sasl.jaas.config", "CVE-2023-25194", "sasl_plain_password_file"),
        ("kafka.sasl.jaas.config", "CVE-2023-25194", "sasl_plain_password_file"),
        ("sasl.oauthbearer.token.endpoint.url", "CVE-2025-27817", "SCRAM-SHA-512"),
        ("sasl.login.callback.handler.class", "CVE-2025-27817", "SCRAM-SHA-512"),
        ("sasl.client.callback.handler.class", "load and run", "kafka.security"),
        ("interceptor.classes", "load and run", "kafka.security"),
        ("ssl.engine.factory.class", "load and run", "kafka.security"),
        ("security.providers", "load and run", "kafka.security"),
        ("key.deserializer", "load and run", "kafka.security"),
        ("config.providers", "load and run", "kafka.security"),
        ("metric.reporters", "load and run", "kafka.security"),
        ("ssl.truststore.location", "PEM", "ssl_cafile"),
        ("ssl.keystore.password", "PEM", "ssl_certfile"),
        ("security.protocol", "setting of its own", "kafka.security.security_protocol"),
        ("bootstrap.servers", "setting of its own", "kafka.bootstrap"),
        ("ssl_password", "setting of its own", "kafka.security.ssl_key_password"),
        ("password", "does not say which", "sasl_plain_password_file"),
        ("acks", "promises", "leave it out"),
        ("group.id", "promises", "leave it out"),
        ("isolation.level", "promises", "leave it out"),
        ("enable.auto.commit", "promises", "leave it out"),
        ("socks5_proxy", "only one", "kafka.security"),
    ],
)
def test_an_option_that_is_not_listed_is_refused(
    option: str, reason: str, remedy: str, tmp_path: Path
) -> None:
    """An option that is not on the list is refused with the reason, wherever in the block it is."""
    refusal = refusal_of(option)
    assert refusal is not None
    assert reason in refusal.reason
    assert remedy in refusal.remedy
    path = tmp_path / "mine.toml"
    for line in (f'{option} = "x"', f'"{option}" = "x"'):
        for table in ("kafka", "kafka.security", "kafka.connection"):
            path.write_text(f"[{table}]\n{line}\n", encoding="utf-8")
            with pytest.raises(SettingsError) as error:
                load_settings(files=[path])
            (problem,) = error.value.problems
            if problem.key == "kafka.bootstrap":
                continue  # a table where a text is wanted
            assert problem.key == f"{table}.{option}"
            assert problem.line == 2
            assert reason in problem.reason
