"""Plan and apply over HTTP on a running engine: by right and reason, and only as it was shown."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from fairlead_proof.local.ownership import Ownership

from fairlead.access.guard import guarded
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import start_server
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import Settings
from fairlead.wire.decision_records import DecisionReader
from fairlead.wire.raw import raw_record
from strategies.registry import STRATEGIES
from tests.access.access_files import made_token, principal_text
from tests.answers.schema import assert_answer
from tests.kit.http_caller import Asking
from tests.kit.kafka_log import body_of
from tests.kit.live_system import SharedEngine

QUEUES = 4
ANN, BOB = made_token(), made_token()


def _following() -> Following:
    return Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)


@pytest.fixture(scope="module")
def port(engine: SharedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server without a gateway: ann may operate, bob only observe."""
    path = tmp_path_factory.mktemp("access") / "access.toml"
    path.write_text(
        principal_text("ann", 'observe = ["*"]', 'operate = ["*"]', token=ANN[1])
        + principal_text("bob", 'observe = ["*"]', token=BOB[1])
    )
    own = engine.settings
    access = own.access.model_copy(update={"file": path})
    serve = own.serve.model_copy(update={"port": 0})
    settings: Settings = own.model_copy(update={"access": access, "serve": serve})
    metrics = ServeMetrics(_following)
    view = application(
        SharedView(settings.serve, settings.engine.tick_ms, STRATEGIES),
        _following,
        metrics,
        EventStreams(settings.http.connections, metrics.streams),
        settings,
        open_data=lambda: contextlib.closing(
            DataCluster(settings.kafka.bootstrap, timeout_ms=10_000, options={})
        ),
    )
    server = start_server(
        guarded(view, settings), settings.serve, "serve", settings.http, bodies_under=["/api/v1/"]
    )
    yield int(server.url.rpartition(":")[2])
    server.stop()


@pytest.fixture
def ann(port: int) -> Asking:
    """Somebody who may operate."""
    return Asking(port, authorization=f"Bearer {ANN[0]}")


def _join(engine: SharedEngine, group: str, *client_ids: str, among: tuple[str, ...] = ()) -> None:
    """Let clients join a group, and wait until it is at rest with them and the others."""
    for client_id in client_ids:
        engine.fleet.join(client_id, group)
    found, reader = Ownership(), DecisionReader(group)

    def settles(record: Any) -> bool:
        decision = reader.read(raw_record(record))
        if decision is not None:
            found.apply(decision)
        return found.is_settled_among(frozenset((*client_ids, *among)), QUEUES)

    engine.log.await_record("decisions", settles)


def _rules(engine: SharedEngine, group: str) -> list[tuple[str, str, str | None]]:
    """Return rule, author and reason of each record of a group's rules."""
    found = [body_of(record) for record in engine.log.records("control") if record.value]
    return [(each["rule"], each["by"], each["because"]) for each in found if each["group"] == group]


def _shown(ann: Asking, group: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return a request that applies what a plan has shown."""
    answer = ann("POST", f"/api/v1/groups/{group}/plan", body)
    assert answer.status == 200, answer.document
    assert_answer("PlanShown", answer.document)
    plan = answer.document
    return {**body, "epoch": plan["epoch"], "moves": plan["moves"], "because": "a warm cache"}


def _drain(client_id: str) -> dict[str, Any]:
    return {"rules": [{"rule": "drain", "value": {"client_id": client_id}}]}


def test_a_plan_is_applied_as_shown_once_and_signed(
    engine: SharedEngine, ann: Asking, port: int
) -> None:
    """Who may operate applies what was shown: once, under their name and reason; others may not."""
    group = "shown"
    path = f"/api/v1/groups/{group}/apply"
    _join(engine, group, "c1", "c2")
    asked = _shown(ann, group, _drain("c2"))
    assert {each["to"] for each in asked["moves"]} == {"c1"}
    bob = Asking(port, authorization=f"Bearer {BOB[0]}")
    assert bob("POST", f"/api/v1/groups/{group}/plan", _drain("c2")).status == 200
    assert bob("POST", path, asked).status == 403
    unreasoned = {name: value for name, value in asked.items() if name != "because"}
    refused = ann("POST", path, unreasoned)
    assert (refused.status, refused.document["field"]) == (422, "because")
    tried = ann("POST", path, {**asked, "dry_run": True})
    assert {row["verdict"] for row in tried.document["move_list"]} == {"not_written"}
    assert _rules(engine, group) == []

    done = ann("POST", path, {**asked, "wait_ms": 60_000})
    assert done.status == 200, done.document
    assert_answer("AppliedPlan", done.document)
    assert done.document["as_planned"], done.document
    assert _rules(engine, group) == [("drain", "ann", "a warm cache")]
    again = ann("POST", path, asked)
    assert again.document["already_applied"], again.document
    assert len(_rules(engine, group)) == 1


def test_a_plan_of_another_moment_is_refused(engine: SharedEngine, ann: Asking) -> None:
    """A decision since then, or other moves than shown, are 409, and nothing is written."""
    group = "moved-on"
    path = f"/api/v1/groups/{group}/apply"
    _join(engine, group, "c1", "c2")
    asked = _shown(ann, group, _drain("c2"))
    other = ann("POST", path, {**asked, "moves": asked["moves"][1:]})
    assert (other.status, other.document["type"]) == (409, "urn:fairlead:plan_outdated")
    assert "planned to stay, now c2 → c1" in other.document["detail"]
    _join(engine, group, "c3", among=("c1", "c2"))
    late = ann("POST", path, asked)
    assert (late.status, late.document["type"]) == (409, "urn:fairlead:plan_outdated")
    assert "client_joined c3" in late.document["detail"]
    assert late.document["remedy"] == "Plan again, and apply what is shown then."
    assert_answer("Error", late.document)
    assert _rules(engine, group) == []
