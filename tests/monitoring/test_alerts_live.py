"""Faults done to a real system fire the right alerts in a real Prometheus, and no others."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

import pytest

from tests.monitoring.faulty_system import FaultySystem
from tests.monitoring.live_prometheus import Fired, LivePrometheus

FACTOR: Final = Fraction(1, 30)
"""A quarter of an hour is half a minute: so long an event is looked back for."""

FAULTS: Final = {
    # One keeps a message of a queue in hand that is to go to another.
    Fired("HandoverTimeouts", "stuck"),
    Fired("NotConverged", "stuck"),
    # A second process uses a client's id.
    Fired("ClientIdConflict", "twins"),
    # Two begin at different places where nothing is committed.
    Fired("SubscriptionMismatch", "mixed"),
    # The only one is killed, with most messages unread.
    Fired("GroupOfflineWithLag", "gone"),
    # It reads a topic that does not exist.
    Fired("GroupWaits", "lost"),
    # Only somebody may consume who is not there.
    Fired("QueuesUnassigned", "nobody"),
    Fired("GroupAlarm", "nobody"),
}
STALLED: Final = Fired("EngineStalled")
DOWN: Final = Fired("EngineDown")
SECONDS_MAX: Final = 120.0

pytestmark = [pytest.mark.system, pytest.mark.timeout(400)]


@pytest.fixture
def system(tmp_path: Path, bootstrap: str, topic_prefix: str) -> Iterator[FaultySystem]:
    """A system in which all is well so far."""
    with FaultySystem(tmp_path, bootstrap, topic_prefix) as running:
        yield running


def prepare(system: FaultySystem) -> None:
    """Bring every group to where its fault can happen; nothing is wrong yet."""
    for group, name in (("calm", "c1"), ("calm", "c2"), ("twins", "t1"), ("stuck", "s1")):
        system.start(group, name)
    system.start("gone", "g1")
    system.hold("stuck", "s1", 7)
    system.hold("gone", "g1", 0)
    # Those of the faults too: they import while the engine starts.
    system.start("stuck", "s2")
    system.start("twins", "t2", client_id="t1")
    system.start("mixed", "m1", consume_from="first_offset")
    system.start("mixed", "m2", consume_from="last_offset")
    system.start("lost", "l1", topic="nowhere")
    system.start("nobody", "n1")
    system.await_engine()
    for group, names in (("calm", ["c1", "c2"]), ("twins", ["t1"]), ("stuck", ["s1"])):
        system.join(group, *names)
    system.join("gone", "g1")
    for group in ("calm", "twins", "stuck", "gone"):
        system.await_working(group)
    system.await_held("stuck", "s1")
    system.await_held("gone", "g1")


def inject(system: FaultySystem) -> None:
    """Do every fault of a client, one in each group."""
    system.designate("nobody", "somebody")
    system.kill("gone", "g1")
    system.join("stuck", "s2")
    system.join("twins", "t2")
    system.join("mixed", "m1", "m2")
    system.join("lost", "l1")
    system.join("nobody", "n1")
    system.await_one_replaced("twins")


def test_faults_fire_their_alerts(system: FaultySystem, tmp_path: Path) -> None:
    """Six faults of clients, a JVM that stands still and an engine killed: each told, no other."""
    prepare(system)
    with LivePrometheus(tmp_path / "prometheus", system.targets, FACTOR) as prometheus:
        prometheus.await_scraped(SECONDS_MAX)
        inject(system)
        missing = set(FAULTS)

        def told(firing: set[Fired]) -> bool:
            missing.difference_update(firing)
            return not missing

        prometheus.await_firing(told, SECONDS_MAX, system.check)
        system.resume("stuck", "s1")
        prometheus.await_firing(
            lambda firing: Fired("NotConverged", "stuck") not in firing, SECONDS_MAX, system.check
        )
        with system.jvm_standing_still():
            prometheus.await_firing(lambda firing: STALLED in firing, SECONDS_MAX, system.check)
            assert DOWN not in prometheus.firing()
        prometheus.await_firing(lambda firing: STALLED not in firing, SECONDS_MAX, system.check)
        system.kill_engine()
        prometheus.await_firing(lambda firing: DOWN in firing, SECONDS_MAX, system.check)
        assert prometheus.ever_fired() == FAULTS | {STALLED, DOWN}
