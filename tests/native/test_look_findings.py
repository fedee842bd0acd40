"""What is wrong with a native group, from one look."""

from fairlead.native.group_look import GroupLook
from fairlead.native.look_findings import look_findings
from tests.native.looks import look


def _problems(seen: GroupLook) -> list[str]:
    return [each.problem for each in look_findings(seen)]


def test_an_even_group_has_no_problem() -> None:
    """Equal shares and little lag are fine."""
    assert _problems(look({"a": range(4), "b": range(4, 8)}, lag={0: 900})) == []


def test_a_queue_with_two_owners_is_told_with_both() -> None:
    """Both owners stand in the sentence."""
    found = look_findings(look({"a": range(5), "b": range(4, 8)}))
    assert [(each.problem, each.subject) for each in found] == [("overlap", "orders/main/4")]
    assert "app-a at 10.0.0.1" in found[0].text
    assert "app-b at 10.0.0.1" in found[0].text


def test_a_queue_without_owner_is_told_unless_a_rebalance_is_under_way() -> None:
    """During a rebalance a coordinator tells no assignments."""
    owned = {"a": range(4), "b": range(4, 7)}
    assert _problems(look(owned)) == ["unassigned"]
    assert _problems(look(owned, shares=False, state="PreparingRebalance")) == []


def test_an_idle_member_and_uneven_shares_are_told() -> None:
    """More members than queues leave some without."""
    assert _problems(look({"a": [0], "b": [1], "c": []}, 2)) == ["idle_member"]
    assert _problems(look({"a": range(6), "b": range(6, 8)})) == ["uneven"]


def test_a_member_with_nearly_all_the_lag_is_named() -> None:
    """Its queues wait, the others do not."""
    found = look_findings(look({"a": range(4), "b": range(4, 8)}, lag={5: 5_000}))
    assert [(each.problem, each.subject) for each in found] == [
        ("lagging_member", "app-b at 10.0.0.1")
    ]


def test_a_group_without_members_is_offline_if_messages_wait() -> None:
    """A group that has read everything may rest."""
    assert _problems(look({}, lag={0: 5})) == ["offline"]
    assert _problems(look({})) == []


def test_what_could_not_be_read_is_a_problem() -> None:
    """A look with a gap is not good news."""
    assert _problems(look({"a": range(8)}, unread="its commits are not told")) == ["unread"]
