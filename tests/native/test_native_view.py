"""What a process remembers of native groups."""

from fairlead.native.cluster_look import ClusterLook
from fairlead.native.group_look import Kind
from fairlead.native.native_view import NativeView
from tests.answers.schema import assert_answer
from tests.kit.native_looks import look, rocketmq_look, rocketmq_member

_BOTH: tuple[tuple[Kind, str], ...] = (("kafka", "k:1"), ("rocketmq", "n:1"))


def test_groups_of_both_data_planes_stand_by_name() -> None:
    """Each has its history; a group may have one name in both."""
    view = NativeView(_BOTH)
    view.took("kafka", ClusterLook((look({"a": range(8)}),)), 1_000)
    view.took("rocketmq", ClusterLook((rocketmq_look(rocketmq_member("h@1", range(4))),)), 1_000)
    view.took("kafka", ClusterLook((look({"a": range(4), "b": range(4, 8)}),)), 2_000)
    kafka, rocketmq = view.groups()
    assert (kafka.observed.look.kind, rocketmq.observed.look.kind) == ("kafka", "rocketmq")
    assert (kafka.rebalances_seen, kafka.moves_seen, rocketmq.rebalances_seen) == (1, 4, 0)
    for each in (kafka, rocketmq):
        assert_answer("NativeHead", each.summary())
    seen = view.group("kafka", "g")
    assert seen is not None
    assert_answer("NativeSeen", seen.to_json())
    assert seen.observed.moves is not None
    again = view.group("kafka", "g")
    assert again is not None
    assert again.observed is seen.observed
    assert view.group("kafka", "other") is None
    assert view.group("elsewhere", "g") is None


def test_a_look_that_failed_leaves_what_was_seen_before() -> None:
    """It says since when that is, and why there is nothing newer."""
    view = NativeView(_BOTH)
    view.took("kafka", ClusterLook((look({"a": range(8)}),), ("broker 2",)), 1_000)
    assert view.failed("kafka", "nobody answers")
    assert not view.failed("kafka", "nobody answers")
    kafka, rocketmq = view.sources()
    assert (kafka.seen_ms, kafka.trouble, kafka.failures) == (1_000, "nobody answers", 2)
    assert (rocketmq.seen_ms, rocketmq.trouble) == (None, "")
    assert_answer("NativeSource", kafka.to_json())
    assert [each.observed.look.group for each in view.groups()] == ["g"]
    view.took("kafka", ClusterLook(()), 2_000)
    assert (view.groups(), view.sources()[0].trouble) == ([], "")
