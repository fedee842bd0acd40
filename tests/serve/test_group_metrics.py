"""The numbers of groups, in the very text that Prometheus reads."""

from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.snapshot import Snapshot
from fairlead.serve.folded_groups import folded
from fairlead.serve.group_families import COUNTERS, GAUGES, HISTOGRAMS
from fairlead.serve.group_metrics import GroupMetrics
from tests.kit.observed_world import Followed, view_of
from tests.kit.world import World, world_of

Told = dict[tuple[str, frozenset[tuple[str, str]]], float]


def _told(snapshot: Snapshot | None) -> Told:
    """Return every sample of the text, by its name and labels."""
    registry = CollectorRegistry()
    registry.register(GroupMetrics(lambda: snapshot))
    text = generate_latest(registry).decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _of(told: Told, name: str, **labels: str) -> float | None:
    return told.get((f"fairlead_{name}", frozenset(labels.items())))


def test_group_at_rest() -> None:
    """What a group at rest tells; nothing is 0 that counts what has happened."""
    told = _told(view_of(world_of("c1", "c2", "c3")).snapshot(10))
    words = {"strategy": "AVG", "mode": "cooperative", "message_model": "clustering"}
    assert _of(told, "group_info", group="orders", **words) == 1
    assert _of(told, "group_phase", group="orders", phase="stable") == 1
    assert _of(told, "group_members", group="orders") == 3
    assert _of(told, "group_members_idle", group="orders") == 0
    assert _of(told, "group_queues", group="orders", topic="orders") == 12
    assert _of(told, "group_queues", group="orders", topic="payments") == 5
    assert _of(told, "group_queues_unassigned", group="orders", topic="orders") == 0
    assert _of(told, "group_queues_in_handover", group="orders", state="gated") == 0
    assert _of(told, "group_converged", group="orders") == 1
    assert _of(told, "subscription_mismatch", group="orders") == 0
    assert _of(told, "metrics_groups_folded") == 0
    counted = {name for name, _ in told if name.endswith("_total")}
    assert counted == {"fairlead_view_failures_total"}
    assert _of(told, "view_failures_total", kind="record") == 0
    assert _of(told, "view_failures_total", kind="group") == 0
    assert not [name for name, labels in told if dict(labels).get("queue_id")]


def test_what_cannot_be_taken_in_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that is none, and a group that cannot be looked through, each under its kind."""
    followed = Followed(world_of("c1"))
    followed.world.topics.append_of("heartbeats", "orders", {"kind": "progress", "queues": 7})
    followed.read()
    told = _told(followed.view.snapshot(10))
    assert _of(told, "view_failures_total", kind="record") == 1
    assert _of(told, "view_failures_total", kind="group") == 0

    def fail(_: ObservedGroup) -> bool:
        raise OverflowError("too large")

    monkeypatch.setattr(ObservedGroup, "finish_events", fail)
    followed.world.join("c2")
    followed.pass_seconds(3)
    told = _told(followed.view.snapshot(10))
    assert (_of(told, "view_failures_total", kind="group") or 0) > 0


def test_what_happens_is_counted() -> None:
    """A join after the start appears under its trigger, with its moves and times."""
    world = world_of("c1", "c2", queues={"orders": 12})
    followed = Followed(world)
    world.join("c3", subscribed=("orders",))
    followed.pass_seconds(8)
    told = _told(followed.view.snapshot(10))
    joined = {"group": "orders", "trigger": "client_joined"}
    assert _of(told, "rebalances_total", **joined) == 1
    assert _of(told, "queue_moves_total", **joined) == 6
    assert _of(told, "queue_moves_minimum_total", **joined) == 4
    assert _of(told, "rebalance_phase_seconds_count", phase="release") == 6
    assert _of(told, "handover_gap_seconds_count") == 6


def test_queues_of_one_group() -> None:
    """Only the named groups have series of single queues."""
    world = _three_groups()
    told = _told(view_of(world).snapshot(10, ["group-2"]))
    named = {dict(labels).get("group") for _, labels in told if "queue_id" in dict(labels)}
    assert named == {"group-2"}
    queue = {"group": "group-2", "topic": "orders", "broker_name": "main", "queue_id": "3"}
    since = _of(told, "queue_owner_since_timestamp_seconds", **queue)
    assert since is not None
    assert since > 1_781_000_000


def test_groups_without_a_place() -> None:
    """Groups beyond the limit share a series; a group with a place keeps it."""
    world = _three_groups()
    followed = Followed(world)
    told = _told(followed.view.snapshot(2))
    assert _of(told, "metrics_groups_folded") == 1
    assert _of(told, "group_members", group="group-1") == 1
    assert _of(told, "group_members", group="__other__") == 2
    assert _of(told, "group_queues", group="__other__", topic="__other__") == 4
    assert _of(told, "group_converged", group="__other__") == 1
    world.join("c1", group="a-new-group")
    followed.pass_seconds(5)
    told = _told(followed.view.snapshot(2))
    assert _of(told, "metrics_groups_folded") == 2
    assert _of(told, "group_members", group="group-1") == 1
    assert _of(told, "group_members", group="a-new-group") is None
    joined = {"group": "__other__", "trigger": "client_joined"}
    assert _of(told, "rebalances_total", **joined) == 1


@pytest.mark.parametrize(
    "phase, unassigned", [("paused", 0), ("waiting_for_route", 0), ("stable", 4)]
)
def test_held_groups_without_a_place(phase: str, unassigned: int) -> None:
    """What a group that is held does not share is not told of groups told together."""
    (one, *_) = view_of(_three_groups()).snapshot(10).figures
    summary = replace(one.summary, phase=phase, converged=False)
    topics = tuple(replace(topic, unassigned=4) for topic in one.topics)
    held = replace(one, summary=summary, topics=topics)
    told = {name: value for name, _, value in folded([held])}
    assert told["group_queues_unassigned"] == unassigned
    assert told["group_converged"] == int(unassigned == 0)
    assert told["group_queues"] == 4


def _three_groups() -> World:
    world = World(queues={"orders": 4})
    for number in (1, 2, 3):
        for client in range(1 + (number == 3)):
            world.join(f"c{client}", group=f"group-{number}")
    world.pass_seconds(8)
    return world


def test_before_the_first_snapshot() -> None:
    """No group has a series before the topics have been read."""
    assert not _told(None)


def test_families_are_named_once() -> None:
    """Each family is listed once, with a text, and names no client."""
    every = (*GAUGES, *COUNTERS, *HISTOGRAMS)
    assert len({entry.name for entry in every}) == len(every)
    assert all(entry.text.endswith(".") for entry in every)
    assert not {label for entry in every for label in entry.labels} & {"client_id", "client"}
