"""Native groups of both data planes, as a console shows them."""

import time

from fairlead.native.cluster_look import ClusterLook
from fairlead.native.native_view import NativeView
from tests.kit.native_looks import frozen, look, named, rocketmq_look, rocketmq_member

__all__ = ["native_view"]


def native_view() -> NativeView:
    """Return looks at two clusters: groups that are well, ill, empty, and strangely named."""
    view = NativeView((("kafka", "broker:9092"), ("rocketmq", "10.0.0.1:9876;10.0.0.2:9876")))
    before = rocketmq_look(
        rocketmq_member("10.0.0.5@1", [0, 1, 2, 3]), rocketmq_member("10.0.0.6@1", [4, 5, 6, 7]),
        number=8,
    )  # fmt: skip
    after = rocketmq_look(
        rocketmq_member("10.0.0.5@1", [0, 1, 2]), rocketmq_member("10.0.0.6@1", [3, 4, 5]),
        rocketmq_member("10.0.0.7@1", [6, 7]), number=8,
    )  # fmt: skip
    ill = rocketmq_look(
        rocketmq_member("10.0.0.8@1", [0, 1, 2], connections={"main": ("h:1", "h:2")}),
        frozen("10.0.0.9@1"),
    )
    others = [named(ill, "bills"), named(before, '<img src=x onerror="boom()">')]
    begun_ms = time.time_ns() // 1_000_000 - 60_000
    for number, seen in enumerate((before, before, after, after)):
        told = (named(seen, "orders"), *others)
        view.took(
            "rocketmq",
            ClusterLook(told, ("name server b:9876 is away",)),
            begun_ms + 1_000 * number,
        )
    kafka = (
        named(look({"a": range(4), "b": range(4, 8), "c": []}), "pay"),
        named(look({}, lag={0: 5_000}), "stopped"),
    )
    view.took("kafka", ClusterLook(kafka), begun_ms)
    view.failed("kafka", "broker:9092: the cluster does not answer within 10 s.")
    return view
