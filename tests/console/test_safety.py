"""Whether all is safe: over HTTP, as the list and the check say it, and for the caller alone."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.console.safety import SafetyApi
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.serve.shared_view import SharedView
from fairlead.settings import load_settings
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.access.access_files import made_token, principal_text
from tests.answers.schema import assert_answer
from tests.kit.live_group import rule, set_rules
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.observations import stubborn
from tests.kit.observed_world import Reader
from tests.kit.served_view import ServedView, serving_view
from tests.kit.world import World, world_of

ALL, OF_ORDERS, OF_NONE = (made_token() for _ in range(3))
SAFETY, HISTORY = "/api/v1/safety", "/api/v1/history"


def _forced() -> World:
    """A member of orders hangs and is passed over; payments is well; some records are refused."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("on_mute", "force"), rule("timing", {"drain_deadline_ms": 1_000}))
    world.join("p1", "payments", subscribed=("payments",))
    stubborn(world, "c1")
    world.join("c3")
    world.topics.append_of("heartbeats", "orders", b'{"v":1,"kind":"leave","group":"orders"}')
    world.topics.append_of("heartbeats", "payments", b"x" * 300)
    world.topics.append("heartbeats", 0, None, b'{"v":1,"kind":"leave"}')
    world.pass_seconds(30)
    return world


@pytest.fixture(scope="module")
def rows() -> list[RawRecord]:
    """Return all records of that world."""
    return Reader(_forced()).rows()


@pytest.fixture(scope="module")
def served(rows: list[RawRecord], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedView]:
    """Return a server with three principals."""
    path = tmp_path_factory.mktemp("access") / "access.toml"
    path.write_text(
        principal_text("all", 'observe = ["*"]', token=ALL[1])
        + principal_text("orders", 'observe = ["orders"]', token=OF_ORDERS[1])
        + principal_text("none", 'consume = ["*"]', token=OF_NONE[1])
    )
    with serving_view(rows, path) as served:
        yield served


def _told(served: ServedView, path: str, token: str) -> dict[str, object]:
    answered = served.ask("GET", path, headers={"Authorization": f"Bearer {token}"})
    assert answered.status == 200, answered.document
    assert_answer("Safety" if path == SAFETY else "Activity", answered.document)
    document: dict[str, object] = answered.document
    return document


def test_a_check_of_one_group_tells_the_same_of_it(served: ServedView) -> None:
    """What is wrong with a group stands at its own path too, for whoever may observe it alone."""
    told = _told(served, SAFETY, ALL[0])
    headers = {"Authorization": f"Bearer {OF_ORDERS[0]}"}
    answered = served.ask("GET", "/api/v1/groups/orders/check", headers=headers)
    assert_answer("Verdict", answered.document)
    assert isinstance(told["violations"], list)
    of_orders = [each for each in told["violations"] if each["group"] == "orders"]
    assert of_orders
    found = [{"group": "orders", **each} for each in answered.document["problem_list"]]
    assert [each["problem"] for each in found] == [each["problem"] for each in of_orders]
    assert all(each["remedy"] for each in found)
    assert served.ask("GET", "/api/v1/groups/payments/check", headers=headers).status == 403


def test_what_is_wrong_is_what_the_list_says(served: ServedView) -> None:
    """The problems of each group in words are those of its line, and its verdict follows."""
    asked = served.ask("GET", "/api/v1/groups", headers={"Authorization": f"Bearer {ALL[0]}"})
    told = served.ask("GET", SAFETY, headers={"Authorization": f"Bearer {ALL[0]}"}).document
    lines = {each["group"]: each for each in asked.document["groups"]}
    assert set(lines) == {"orders", "payments"}
    for name, line in lines.items():
        found = {each["problem"] for each in told["violations"] if each["group"] == name}
        assert found == set(line["problems"])
    assert all(each["says"] and each["remedy"] for each in told["violations"])
    wrong = sum(bool(each["problems"]) for each in lines.values())
    assert told["verdicts"]["problems"] == wrong
    assert sum(told["verdicts"].values()) == len(lines)


def test_figures_are_of_the_groups_that_one_may_observe(served: ServedView) -> None:
    """No figure, problem or reject tells of a group that its caller may not observe."""
    of_all, of_orders, of_none = (
        served.ask("GET", SAFETY, headers={"Authorization": f"Bearer {token}"}).document
        for token in (ALL[0], OF_ORDERS[0], OF_NONE[0])
    )
    for each in (of_all, of_orders, of_none):
        assert_answer("Safety", each)
    assert of_all["handovers"]["unsafe"] == of_orders["handovers"]["unsafe"] > 0
    assert {each["group"] for each in of_orders["violations"]} == {"orders"}
    assert {each["group"] for each in of_orders["rejects"]["newest"]} == {"orders"}
    assert of_orders["rejects"]["total_seen"] == len(of_orders["rejects"]["newest"])
    assert of_all["rejects"]["total_seen"] == 3 > of_orders["rejects"]["total_seen"] == 1
    assert of_none["handovers"]["checked"] == of_none["overlaps"] == 0
    assert of_none["handovers"]["smallest_gap_ms"] is None
    assert of_none["violations"] == []
    assert of_none["verdicts"] == {"safe": 0, "nobody": 0, "problems": 0, "unreadable": 0}
    assert of_none["rejects"] == {"total_seen": 0, "newest": []}


def test_rejects_come_with_their_remedies_the_newest_first(served: ServedView) -> None:
    """Each refused record has its reason, its place and what to do."""
    newest = served.ask("GET", SAFETY, headers={"Authorization": f"Bearer {ALL[0]}"}).document[
        "rejects"
    ]["newest"]
    assert len(newest) == 3
    assert all(each["remedy"] and each["reason"] and len(each["at"]) == 3 for each in newest)
    assert {each["group"] for each in newest} == {"orders", "payments", None}


def test_the_day_is_told_by_hours(served: ServedView) -> None:
    """Activity has 24 hours of each group that one may observe, and none of another."""
    of_all, of_orders = _told(served, HISTORY, ALL[0]), _told(served, HISTORY, OF_ORDERS[0])
    assert set(of_all["groups"]) == {"orders", "payments"}  # type: ignore[call-overload]
    assert set(of_orders["groups"]) == {"orders"}  # type: ignore[call-overload]
    assert of_all["bucket_ms"] == 3_600_000
    assert _told(served, HISTORY, OF_NONE[0])["groups"] == {}


def test_nobody_says_safe_before_all_is_read(rows: list[RawRecord]) -> None:
    """While the topics are read, half of them would look like good news."""
    with serving_view(rows) as served:
        served.held.begin(NAMES, PARTITIONS)
        answered = served.ask("GET", SAFETY)
        assert (answered.status, answered.document["type"]) == (503, "urn:fairlead:not_read")
        assert "retry-after" in answered.headers
        served.held.apply(rows)
        served.held.follow()
        assert served.ask("GET", SAFETY).status == 200


class _Looked:
    """A view that counts how often somebody looks through one of its groups."""

    def __init__(self, held: SharedView) -> None:
        self._held = held
        self.looks = Counter[str]()

    def query(self, question: object, otherwise: object) -> object:
        self.looks["query"] += 1
        return self._held.query(question, otherwise)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._held, name)


class _ReadAgain(_Looked):
    """A view whose topics are read again under the first look."""

    def groups(self) -> object:
        if not self.looks["groups"]:
            self._held.begin(NAMES, PARTITIONS)
        self.looks["groups"] += 1
        return self._held.groups()


def test_callers_share_a_look(rows: list[RawRecord]) -> None:
    """However many ask, the groups are looked through once in a while, and later once more."""
    held = SharedView(load_settings().serve, 1_000, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(rows)
    held.follow()
    view, now_s = _Looked(held), [100.0]
    api = SafetyApi(view, dict, lambda: now_s[0])  # type: ignore[arg-type]

    async def fresh() -> object:
        return await api._fresh()  # noqa: SLF001 - what callers share has no other face

    first = asyncio.run(fresh())
    once = view.looks["query"]
    assert once > 0
    assert asyncio.run(fresh()) is first
    assert view.looks["query"] == once
    now_s[0] += 60
    assert asyncio.run(fresh()) is not first
    assert view.looks["query"] == 2 * once


def test_a_look_at_half_of_the_topics_is_not_kept(rows: list[RawRecord]) -> None:
    """If a server reads the topics again during a look, it does not answer with what that saw."""
    held = SharedView(load_settings().serve, 1_000, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(rows)
    held.follow()
    api = SafetyApi(_ReadAgain(held), dict)  # type: ignore[arg-type]

    async def fresh() -> object:
        return await api._fresh()  # noqa: SLF001 - what callers share has no other face

    assert asyncio.run(fresh()) is None
    held.apply(rows)
    held.follow()
    assert asyncio.run(fresh()) is not None


def test_a_group_that_cannot_be_read_stops_no_other(
    rows: list[RawRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is unreadable, with the defect in words, and the others are checked."""
    with serving_view(rows) as served:
        group = ObservedGroups.group

        def broken(self: ObservedGroups, name: str, *given: object) -> object:
            if name == "orders":
                raise KeyError("lost")
            return group(self, name, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(ObservedGroups, "group", broken)
        told = served.ask("GET", SAFETY).document
    assert told["verdicts"]["unreadable"] == 1
    (found,) = [each for each in told["violations"] if each["group"] == "orders"]
    assert (found["problem"], found["says"]) == ("unreadable", "KeyError: 'lost'")
    assert {each["group"] for each in told["violations"]} == {"orders", "payments"}


def test_a_gateway_alone_has_no_console(tmp_path: Path) -> None:
    """Where nobody follows the groups there is neither a page nor an open path."""
    path = tmp_path / "access.toml"
    path.write_text(principal_text("all", 'observe = ["*"]', token=ALL[1]))
    alone: dict[str, Any] = {"serve.observe": False, "gateway.enabled": True}
    with serving_view([], path, **alone) as served:
        browser = {"Accept": "text/html"}
        assert served.ask("GET", "/", headers=browser).status == 401
        assert served.ask("GET", "/console/js/main.js").status == 401
        assert served.ask("POST", "/api/v1/login", {"token": ALL[0]}).status == 401
        by_header = {**browser, "Authorization": f"Bearer {ALL[0]}"}
        assert served.ask("GET", "/", headers=by_header).document["program"] == "fairlead serve"
        assert served.ask("GET", "/console/js/main.js", headers=by_header).status == 404
