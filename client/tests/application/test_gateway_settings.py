"""The settings of a client of a gateway: what cannot work is refused before anything starts."""

from pathlib import Path
from typing import Any

import pytest
from fairlead_client import (
    AsyncConsumer,
    BroadcastConsumer,
    Consumer,
    PushConsumer,
    SettingsError,
    Subscription,
)
from fairlead_client.settings.client_settings import Settings
from fairlead_client.settings.gateway_settings import GatewayAddress

GOOD: dict[str, Any] = {
    "bootstrap": "b:1",
    "group": "orders",
    "topics": ["orders"],
    "gateway": "https://g:8443",
}
TOKEN: dict[str, Any] = {"token": "flt_x"}


def test_addresses() -> None:
    """Addresses are a text with commas or a list; a port that is left out is the scheme's own."""
    both = [GatewayAddress("https", "g", 8443), GatewayAddress("http", "::1", 80)]
    for given in ("https://g:8443, http://[::1]/", ["https://g:8443", "http://[::1]"]):
        settings = Settings(**{**GOOD, "gateway": given})
        assert settings.gateways == both
    assert [str(each) for each in both] == ["https://g:8443", "http://[::1]:80"]
    assert Settings(**{**GOOD, "gateway": ()}).gateways == []


@pytest.mark.parametrize(
    "given",
    ["g:8443", "ftp://g", "https://", "https://g:x", "https://g:70000", "https://g/path", 5],
)
def test_what_is_no_address(given: Any) -> None:
    """What is no address of a gateway is refused, with the form of one."""
    with pytest.raises(SettingsError) as raised:
        Consumer(**{**GOOD, "gateway": given})
    assert raised.value.field == "gateway"


def test_an_address_with_a_password_is_not_shown() -> None:
    """An address that holds a password is refused, and the error does not show it."""
    with pytest.raises(SettingsError) as raised:
        Consumer(**{**GOOD, "gateway": "https://me:hunter2@g"})
    assert "hunter2" not in str(raised.value)
    assert "token_file" in str(raised.value)


@pytest.mark.parametrize("name, value", [("lease_ms", 15_000), ("heartbeat_ms", 1), ("prefix", "")])
def test_what_the_gateway_decides(name: str, value: Any) -> None:
    """A setting that the gateway decides would have no effect, so it is refused."""
    with pytest.raises(SettingsError, match="leave it out") as raised:
        Consumer(**GOOD, **{name: value})
    assert raised.value.field == name


def test_one_token(tmp_path: Path) -> None:
    """A token is given once, goes through encrypted connections alone, and is shown nowhere."""
    file = tmp_path / "token"
    file.write_text("flt_x")
    with pytest.raises(SettingsError, match="one of the two"):
        Consumer(**GOOD, **TOKEN, token_file=str(file))
    with pytest.raises(SettingsError, match="clear text"):
        Consumer(**{**GOOD, "gateway": "http://g"}, token_file=str(file))
    on_loopback = Settings(**{**GOOD, "gateway": "http://127.0.0.1:1"}, **TOKEN)
    assert "flt_x" not in repr(on_loopback)
    with pytest.raises(SettingsError, match="cannot be read"):
        Consumer(**GOOD, token_file=str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="there is none"):
        Consumer(**{**GOOD, "gateway": ()}, **TOKEN)


def test_certificates(tmp_path: Path) -> None:
    """Certificates are for encrypted connections, and a key goes with its certificate."""
    file = tmp_path / "pem"
    file.write_text("")
    with pytest.raises(SettingsError, match="no encryption"):
        Consumer(**{**GOOD, "gateway": "http://g"}, gateway_ca_file=str(file))
    with pytest.raises(SettingsError, match="gateway_cert_file"):
        Consumer(**GOOD, gateway_key_file=str(file))


def test_what_a_gateway_does_not_carry() -> None:
    """Filters that are no tags, and more capacity than a gateway takes, are refused at once."""
    sql = Subscription("orders", "a > 1", "sql92")
    with pytest.raises(SettingsError, match="tags only"):
        Settings(**{**GOOD, "topics": [sql]})
    with pytest.raises(SettingsError, match="at most 1000"):
        Consumer(**GOOD, capacity=1_001)


def test_who_needs_no_gateway() -> None:
    """A broadcasting member shares no queues; a listener of changes needs every queue."""
    with pytest.raises(SettingsError, match="needs no gateway"):
        BroadcastConsumer(**GOOD, client_id="a")
    with pytest.raises(SettingsError) as raised:
        PushConsumer(
            **GOOD,
            listener=lambda _messages, _context: None,
            message_queue_changed=lambda _topic, _every, _mine: None,
        )
    assert raised.value.field == "message_queue_changed"


def test_the_asynchronous_consumer_needs_one() -> None:
    """AsyncConsumer has no thread to read Fairlead's topics, and says what to use instead."""
    direct = {name: value for name, value in GOOD.items() if name != "gateway"}
    with pytest.raises(SettingsError, match="use Consumer on a thread") as raised:
        AsyncConsumer(**direct)
    assert raised.value.field == "gateway"
    unknown: dict[str, Any] = {**GOOD, "colour": "red"}
    with pytest.raises(SettingsError, match="AsyncConsumer has no such setting"):
        AsyncConsumer(**unknown)
