"""An unknown key is answered with what was most likely meant, or with all there is."""

from typing import Any

import pytest

from fairlead.settings.known_keys import ANY_GROUP, known_keys
from fairlead.settings.suggestions import nearest_key, suggestion_for


@pytest.mark.parametrize(
    "path, value, nearest",
    [
        ("kafka.bootstrp", "a:1", "kafka.bootstrap"),
        ("kafka.bootstrap_servers", "a:1", "kafka.bootstrap"),
        ("kafka.tick_ms", 1, "engine.tick_ms"),
        ("kafka.ssl_cafile", "x", "kafka.security.ssl_cafile"),
        ("kafka.security.bootstrap", "x", "kafka.bootstrap"),
        ("kafka.security.key_password_file", "x", "kafka.security.ssl_key_password_file"),
        ("kafka.fetch_max_wait_ms", 5, "engine.fetch_max_wait_ms"),
        ("kafka.security.hostname", True, "kafka.security.ssl_check_hostname"),
        ("kafak", {"bootstrap": "a:1"}, "kafka"),
        ("security", {"ssl_cafile": "x"}, "kafka.security"),
        ("broker", {"bootstrap": "a:1"}, "kafka"),
        ("groups.orders", {"lease_ms": 1}, "group.orders"),
        ("grop", {"orders": {"lease_ms": 1}}, "group"),
        ("group_default", {"lease_ms": 1}, "group_defaults"),
        ("lease_ms", 1, "group_defaults.lease_ms"),
        ("group.orders.lease", 1, "group.orders.lease_ms"),
        ("group.orders.lease_seconds", 1, "group.orders.lease_ms"),
        ("group.orders.weighing.over", 1, "group.orders.weighing.over_ms"),
        ("group.orders.heartbeat_ms", 1, "client.heartbeat_ms"),
        ("group_defaults.designated", {"only": []}, None),
        ("serve.lag_period", 1, "serve.lag_period_ms"),
        ("topics.retention_ms", 1, "topics.decisions_retention_ms"),
        ("engine.heap", "1g", "engine.java_heap"),
        ("engine.sparks", {"spark.x": 1}, "engine.spark"),
        ("engine.foo", 1, None),
        ("kafka.security.colour", 1, None),
    ],
)
def test_the_nearest_names_come_from_the_same_table_first(
    path: str, value: Any, nearest: str | None
) -> None:
    """What is like it in its own table comes first, then the same name elsewhere."""
    assert nearest_key(path.split("."), value) == nearest


def test_without_a_near_key_all_of_the_table_are_named() -> None:
    """Where nothing is like it, the hint lists the keys of its table, or the tables."""
    assert (
        suggestion_for(["metrics", "colour"], 1) == "nothing is like it; [metrics] knows host, port"
    )
    assert "the tables are kafka, kafka.security" in suggestion_for(["zzz"], {"qqq": 1})


@pytest.mark.parametrize("known", known_keys(), ids=lambda known: known.dotted)
def test_a_key_with_one_letter_less_is_found(known: Any) -> None:
    """Every key is found again by a name with one letter less, in its own table."""
    key = [name if name != ANY_GROUP else "orders" for name in known.key]
    if len(key[-1]) > 3:
        assert nearest_key([*key[:-1], key[-1][:2] + key[-1][3:]], 1) == ".".join(key)
