"""A real Prometheus beside a real system: dashboards are answered, faults fire their alerts."""

import time
import uuid
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import pytest

from tests.monitoring.dashboard_proof import RIGHTLY_EMPTY, asked, unanswered
from tests.monitoring.dashboard_queries import queries
from tests.monitoring.faulty_system import CALM, FaultySystem
from tests.monitoring.live_prometheus import Fired, LivePrometheus
from tests.monitoring.prometheus_server import Series
from tools.dashboards.promql import UNKNOWN

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

FACTOR: Final = Fraction(1, 30)
"""A quarter of an hour is half a minute: so long an event is looked back for."""

FAULTS: Final = {
    # One keeps a message of a queue in hand that is to go to another.
    Fired("HandoverTimeouts", "stuck"),
    Fired("NotConverged", "stuck"),
    # Its messages wait for longer and longer, also where nobody writes.
    Fired("LagGrowing", "stuck"),
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
SCALED: Final = {
    # The alert's five minutes are ten seconds here, and the lease of the killed is thirteen.
    Fired("LagGrowing", "gone"),
    # The alert's two minutes are four seconds, and the first decision on a new group may take them.
    Fired("QueuesUnassigned", "mixed"),
    # Five minutes are ten seconds, and a busy machine takes as long to put a twin in its place.
    Fired("NotConverged", "twins"),
}
"""What may fire besides, only because the alerts' durations are scaled and the leases are not."""
STALLED: Final = Fired("EngineStalled")
DOWN: Final = Fired("EngineDown")
SECONDS_MAX: Final = 120.0
ANSWER_SECONDS_MAX: Final = 30.0
"""Until what happened is scraped, and has changed what panels show over time."""

LOOK_SECONDS: Final = 0.5

pytestmark = [pytest.mark.system, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def system(
    tmp_path_factory: pytest.TempPathFactory, kafka: "EmbeddedKafka"
) -> Iterator[FaultySystem]:
    """A system, started once: all is well until the last test breaks it."""
    folder, prefix = tmp_path_factory.mktemp("system"), f"live-{uuid.uuid4().hex[:8]}."
    with FaultySystem(folder, kafka.bootstrap, prefix) as running:
        prepare(running)
        yield running


@pytest.fixture(scope="module")
def prometheus(
    system: FaultySystem, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LivePrometheus]:
    """A Prometheus that has scraped the system since all was well."""
    folder = tmp_path_factory.mktemp("prometheus")
    clients = system.client_targets
    with LivePrometheus(folder, system.targets, FACTOR, clients) as running:
        running.await_scraped(SECONDS_MAX)
        yield running


def prepare(system: FaultySystem) -> None:
    """Bring every group to where its fault can happen; nothing is wrong yet."""
    for name in ("c1", "c2", "c3"):
        system.start(CALM, name, metrics=True)
    for group, name in (("twins", "t1"), ("stuck", "s1")):
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
    for group, names in ((CALM, ["c1", "c2"]), ("twins", ["t1"]), ("stuck", ["s1"])):
        system.join(group, *names)
    system.join("gone", "g1")
    for group in (CALM, "twins", "stuck", "gone"):
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


def test_dashboards_are_answered(system: FaultySystem, prometheus: LivePrometheus) -> None:
    """Each query of each panel has numbers once a client has joined; few are rightly empty."""
    began = time.time()
    await_calm(prometheus, members=2)
    system.join(CALM, "c3")
    await_calm(prometheus, members=3)

    def answers(expression: str, *, instant: bool) -> list[tuple[float, ...]]:
        if instant:
            return [series.values for series in prometheus.now(expression)]
        found = prometheus.over(expression, began, time.time(), 1)
        return [series.values for series in found]

    deadline = time.monotonic() + ANSWER_SECONDS_MAX
    while missing := unanswered(answers, CALM, FACTOR) - set(RIGHTLY_EMPTY):
        system.check()
        assert time.monotonic() < deadline, missing
        time.sleep(LOOK_SECONDS)
    unknown = [
        query.place
        for query in queries()
        if prometheus.now(asked(query, CALM, FACTOR))[:1] == [Series({}, (UNKNOWN,))]
    ]
    assert unknown == []


def await_calm(prometheus: LivePrometheus, members: int) -> None:
    """Return when the view tells that the calm group has so many members and is at rest."""
    of = f'{{group="{CALM}"}}'
    rest = f"fairlead_group_members{of} == {members} and fairlead_group_converged{of} == 1"
    prometheus.await_true(
        lambda: bool(prometheus.now(rest)),
        f"the group is not at rest with {members} members",
        SECONDS_MAX,
    )


@pytest.mark.slow
def test_faults_fire_their_alerts(system: FaultySystem, prometheus: LivePrometheus) -> None:
    """Six faults of clients, a JVM that stands still and an engine killed: each told, no other."""
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
    assert prometheus.ever_fired() - SCALED == FAULTS | {STALLED, DOWN}
