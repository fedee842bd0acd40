"""A setting that cannot work is an error that names it and the remedy, before anything starts."""

import os
import socket
from dataclasses import fields
from ipaddress import ip_address
from typing import Any

import pytest
from fairlead_client import Client, Consumer, SettingsError, Subscription
from fairlead_client.session.client_identity import new_client_identity
from fairlead_client.settings.client_settings import BY_KIND, Settings, SettingsArguments

GOOD: dict[str, Any] = {"bootstrap": "b:1", "group": "orders", "topics": ["orders"]}


@pytest.mark.parametrize(
    "field, value",
    [
        ("bootstrap", " , "),
        ("bootstrap", "b:port"),
        ("bootstrap", "good:1, b:70000"),
        ("bootstrap", ["good:1", ":9092"]),
        ("bootstrap", None),
        ("bootstrap", b"b:1"),
        ("bootstrap", [("b", 1)]),
        ("capacity", "9" * 5_000),
        ("group", None),
        ("topics", None),
        ("topics", ["orders", None]),
        ("topics", [b"orders"]),
        ("prefix", None),
        ("client_id", 5),
        ("heartbeat_ms", "3000"),
        ("lease_ms", "15s"),
        ("lease_ms", 15e3),
        ("lease_ms", None),
        ("progress_ms", True),
        ("drain_deadline_ms", "1"),
        ("ordered", "false"),
        ("retry_topic", 1),
        ("zone", 3),
        ("capacity", "2"),
        ("commit_offsets", None),
        ("start_timeout_ms", "5"),
        ("kafka", [("sasl_plain_password", "hunter2")]),
        ("fetch", None),
        ("kafka", "hunter2"),
        ("group", ""),
        ("group", "a b"),
        ("group", "x" * 121),
        ("topics", []),
        ("topics", "orders"),
        ("topics", ["orders", "orders"]),
        ("topics", ["or ders"]),
        ("topics", ["__consumer_offsets"]),
        ("topics", ["orders", Subscription("TBW102")]),
        ("client_id", "with space"),
        ("client_id", ""),
        ("heartbeat_ms", 5_001),
        ("heartbeat_ms", 0),
        ("lease_ms", 999),
        ("lease_ms", 600_001),
        ("progress_ms", 0),
        ("commit_ms", -5),
        ("drain_deadline_ms", 0),
        ("capacity", 0),
        ("consume_from", "somewhere"),
        ("consume_timestamp_ms", 5),
        ("consume_type", "lite"),
        ("message_model", "everybody"),
        ("kafka", {"sasl_pasword": "hunter2"}),
        ("fetch", {"group_id": "other"}),
    ],
)
def test_a_bad_setting_is_named_without_its_password(field: str, value: object) -> None:
    """The error names the field, and never repeats what may be a password."""
    with pytest.raises(SettingsError, match=f"^{field}: ") as caught:
        Settings(**(GOOD | {field: value}))
    assert caught.value.field == field
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "field, value, remedy",
    [
        ("lease_ms", "15000", "give lease_ms=15000, without quotes"),
        ("heartbeat_ms", "3s", "a whole number, such as heartbeat_ms=3"),
        ("ordered", "false", "give ordered=True or ordered=False"),
        ("drain_deadline_ms", 1.5, "drain_deadline_ms=3, or None"),
        ("group", None, 'group="'),
    ],
)
def test_a_value_of_another_type(field: str, value: object, remedy: str) -> None:
    """What the environment gives is text: the refusal says what is given instead."""
    with pytest.raises(SettingsError, match=f"^{field}: ") as caught:
        Settings(**(GOOD | {field: value}))
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    "bootstrap",
    ["b", "b:9092", "::1", "[::1]", "[::1]:9092", "10.0.0.1", "SASL_SSL://b:9093", ("a:1", "b:2")],
)
def test_servers_are_what_kafka_clients_accept(bootstrap: Any) -> None:
    """Whatever Kafka's clients take for a server is one here."""
    assert Settings(**(GOOD | {"bootstrap": bootstrap})).bootstrap_servers


@pytest.mark.parametrize(
    "field, chosen",
    [
        ("topics", {"topics": [Subscription("orders", "a > 5", "sql92")]}),
        ("topics", {"topics": [Subscription("orders", "||")]}),
        ("topics", {"topics": ["orders", "%RETRY%orders"]}),
        ("retry_topic", {"retry_topic": True}),
    ],
)
def test_what_a_consumer_cannot_do(field: str, chosen: dict[str, Any]) -> None:
    """A filter that nothing evaluates is refused, and a retry topic where nothing waits."""
    with pytest.raises(SettingsError, match=f"^{field}: .+; .+") as caught:
        Consumer(**GOOD | chosen)
    assert caught.value.field == field
    # A client whose application reads for itself evaluates what it likes.
    Client(**GOOD | chosen, on_assigned=lambda *_: None, on_revoked=lambda _: None)


def test_a_misspelt_setting_is_refused() -> None:
    """A misspelt setting is not ignored."""
    with pytest.raises(SettingsError, match=r"leese_ms: .* did you mean lease_ms\?"):
        Consumer(**GOOD, leese_ms=5)  # type: ignore[call-arg]


def test_the_keyword_arguments_are_the_settings() -> None:
    """The typed keyword arguments are the settings, but for what the kind of client says."""
    public = {field.name for field in fields(Settings)} - BY_KIND
    assert SettingsArguments.__annotations__.keys() == public
    required = {"group", "topics"}
    assert SettingsArguments.__required_keys__ == required


def test_timestamp_goes_with_its_word() -> None:
    """A timestamp is for consume_from="timestamp", which has a default for it."""
    with pytest.raises(SettingsError, match=r"^consume_timestamp_ms: "):
        Settings(**GOOD, consume_from="first_offset", consume_timestamp_ms=1_780_999_000_000)
    assert Settings(**GOOD, consume_from="timestamp").consume_timestamp_ms is None
    started_ms = 1_781_000_000_000
    assert Settings(**GOOD).begins_at_ms(started_ms) is None
    half_an_hour = started_ms - 1_800_000
    assert Settings(**GOOD, consume_from="timestamp").begins_at_ms(started_ms) == half_an_hour


@pytest.mark.parametrize(
    "settings, deadline",
    [
        ({}, 30_000),
        ({"ordered": True}, None),
        ({"ordered": True, "drain_deadline_ms": 5}, 5),
        ({"drain_deadline_ms": None}, None),
    ],
)
def test_only_ordered_groups_have_no_drain_deadline(
    settings: dict[str, Any], deadline: int | None
) -> None:
    """Ordered groups have no drain deadline unless they ask for one."""
    assert Settings(**GOOD, **settings).drain_deadline == deadline


def test_no_representation_shows_a_password() -> None:
    """A password is in no representation of settings or client."""
    kafka = {"sasl_plain_password": "hunter2", "ssl_password": "hunter2"}
    settings = Settings(**GOOD, kafka=kafka)
    client = Client(
        **GOOD, kafka=kafka, on_assigned=lambda _q, _o: None, on_revoked=lambda _q: None
    )
    assert "hunter2" not in repr(settings) + repr(client) + str(vars(client))


def test_client_before_its_start() -> None:
    """A client that was not started owns nothing, and can be closed for good."""
    client = Client(**GOOD, on_assigned=lambda _q, _o: None, on_revoked=lambda _q: None)
    assert (client.state, dict(client.assigned), client.last_error) == ("new", {}, None)
    assert not client.wait(0)
    assert not client.processed(("orders", "main", 1), 5)  # type: ignore[arg-type]
    client.close()
    assert (client.state, client.wait(0)) == ("closed", True)


def test_a_subscription_without_a_version_gets_one() -> None:
    """What has no version is given one; a version that is given stays."""
    own = Subscription("payments", expression="a", sub_version=3)
    settings = Settings(**(GOOD | {"topics": ["orders", own]}))
    assert settings.subscriptions(7) == (Subscription("orders", sub_version=7), own)
    unsaid = Settings(**(GOOD | {"topics": [Subscription("orders", expression="a")]}))
    assert unsaid.subscriptions(7) == (Subscription("orders", expression="a", sub_version=7),)


def test_the_default_times_are_those_of_the_page() -> None:
    """A heartbeat goes every 3 s and renews 10 s; progress every second, commits every 5 s."""
    times = Settings(**GOOD)
    assert (times.heartbeat_ms, times.lease_ms) == (3_000, 15_000)
    assert (times.progress_ms, times.commit_ms) == (1_000, 5_000)


def test_default_client_ids_are_unique_and_name_host_and_process() -> None:
    """Default client ids are unique, printable, and name host, address and process."""
    identity = new_client_identity()
    address = ip_address(identity.address)
    host = socket.gethostname()
    assert identity.client_id.startswith(f"{host}-{address}@{os.getpid()}#")
    ids = {new_client_identity().client_id for _ in range(50)}
    assert len(ids) == 50
    assert all(Settings(**GOOD, client_id=client_id) for client_id in ids)
    assert new_client_identity("chosen").client_id == "chosen"
