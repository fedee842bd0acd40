"""What is said of a broker that takes connections and never answers."""

import socket
import time
from collections.abc import Iterator
from functools import partial

import pytest
from fairlead_client.transport.connection_fault import first_contact
from kafka.errors import KafkaTimeoutError

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.acls import Role
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.reachability import connection_error, require_reachable
from fairlead.settings import load_settings


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of somebody who listens and says nothing, as a frozen broker does."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.slow
def test_a_command_ends_soon_with_the_cause(silent: str) -> None:
    """Who reads topics waits for seconds; told are the silence and the remedy, and no right."""
    kafka = load_settings(overrides={"kafka.bootstrap": silent}).kafka
    begun = time.monotonic()
    with pytest.raises(EnvironmentMissingError) as failed:
        KafkaSource(kafka)
    # 2 s each to look before and after, 4 s for the client; the library's own 30 s, twice, before.
    assert time.monotonic() - begun < 20
    assert failed.value.message == (
        f"kafka.bootstrap: {silent} takes connections and does not answer: the broker may be "
        "frozen."
    )
    assert failed.value.remedy.startswith("Name several brokers in kafka.bootstrap")


def test_silence_is_told_only_after_a_failure(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow broker is left to the client that is built; who names several names enough."""
    quick = partial(first_contact, seconds=0.2)
    monkeypatch.setattr("fairlead.kafka.reachability.first_contact", quick)
    options = {"bootstrap_servers": [silent, silent]}
    require_reachable(options)
    found = connection_error(options)
    assert found is not None
    assert found.message.endswith("the brokers may be frozen.")
    assert "several" not in found.remedy
    told = cluster_error(options, "x cannot be read", KafkaTimeoutError(), role=Role.READER)
    assert told.message == found.message


def test_the_list_of_topics_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read is named, also where no topic was asked for by name."""

    def failing(*_given: object, **_options: object) -> None:
        raise KafkaTimeoutError("too late")

    monkeypatch.setattr("fairlead.kafka.topic_reader.consumer_of", failing)
    monkeypatch.setattr("fairlead.kafka.missing_rights.connection_error", lambda _options: None)
    monkeypatch.setattr("fairlead.kafka.missing_rights._lacking_of", lambda *_given: {})
    with pytest.raises(EnvironmentMissingError, match="the list of topics cannot be read"):
        KafkaSource(load_settings().kafka)
