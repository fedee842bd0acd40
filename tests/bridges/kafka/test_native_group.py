"""When a consumer group of Kafka's own counts as being at work."""

from typing import Any

import pytest

from fairlead.bridges.kafka.native_group import NativeMember, read_native_group

MEMBER = {"member_id": "m-1", "client_id": "shop", "client_host": "/10.0.0.7"}


@pytest.mark.parametrize(
    "listed, described, at_work",
    [
        ("Stable", {"group_state": "Stable", "members": [MEMBER]}, True),
        ("PreparingRebalance", {"group_state": "PreparingRebalance", "members": [MEMBER]}, True),
        ("Empty", {"group_state": "Empty", "members": []}, False),
        ("", {"group_state": "Empty", "members": []}, False),
        (None, {"group_state": "Dead", "members": [], "error": "GroupIdNotFoundError"}, False),
        (None, {}, False),
        # Of the newer consumer protocol, which cannot be described here.
        ("Stable", {"group_state": "Dead", "members": []}, True),
        ("Assigning", {"group_state": "Dead", "members": None}, True),
    ],
)
def test_a_group_with_members_is_at_work(
    listed: str | None, described: dict[str, Any], *, at_work: bool
) -> None:
    """A group with members is, and one that says so although its members cannot be listed."""
    groups = [{"group_id": "other", "group_state": "Stable"}]
    if listed is not None:
        groups.append({"group_id": "orders", "group_state": listed})
    assert read_native_group("orders", groups, described).is_at_work == at_work


def test_members_are_named_by_client_id_and_host() -> None:
    """A member's text names its client id and host."""
    found = read_native_group("orders", [], {"group_state": "Stable", "members": [MEMBER]})
    assert found.members == (NativeMember("m-1", "shop", "10.0.0.7"),)
    assert str(found.members[0]) == "shop at 10.0.0.7"
