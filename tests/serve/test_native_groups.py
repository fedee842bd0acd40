"""Native groups over HTTP, in commands and in metrics."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from fairlead.cli.main import main
from fairlead.native.cluster_look import ClusterLook
from fairlead.native.native_view import NativeView
from fairlead.serve.native_families import NATIVE_FAMILIES
from fairlead.serve.native_metrics import NativeMetrics
from tests.access.access_files import made_token, principal_text
from tests.answers.schema import assert_answer, assert_answers
from tests.kit.moving_world import recorded
from tests.kit.native_looks import look, rocketmq_look, rocketmq_member
from tests.kit.scrape import Scrape
from tests.kit.served_view import ServedView, serving_view
from tests.kit.world import world_of


def _view() -> NativeView:
    view = NativeView((("kafka", "k:1"), ("rocketmq", "n:1")))
    view.took("kafka", ClusterLook((look({"a": range(4)}),)), 1_000)
    members = [rocketmq_member("h@1", [0, 1]), rocketmq_member("i@1", [2, 3])]
    view.took("rocketmq", ClusterLook((rocketmq_look(*members),)), 2_000)
    view.failed("kafka", "nobody answers")
    return view


@pytest.fixture
def served() -> Iterator[ServedView]:
    """A server that has looked at two clusters."""
    with serving_view([], native=_view()) as server:
        yield server


def test_the_list_and_one_group(served: ServedView) -> None:
    """Both have their form; an unknown group, and one that another data plane has, are 404."""
    listed = served.ask("GET", "/api/v1/native").document
    assert_answer("NativeGroups", listed)
    assert [(each["native"], each["verdict"]) for each in listed["native_groups"]] == [
        ("kafka", "problems"),
        ("rocketmq", "safe"),
    ]
    assert [each["trouble"] for each in listed["native_sources"]] == ["nobody answers", None]
    one = served.ask("GET", "/api/v1/native/rocketmq/groups/g")
    assert_answer("NativeSeen", one.document)
    assert one.document["what_if"]["shape"] == "AVG"
    for path in ("rocketmq/groups/other", "pulsar/groups/g"):
        assert served.ask("GET", f"/api/v1/native/{path}").status == 404


def test_callers_see_the_groups_that_they_may_observe(tmp_path: Path) -> None:
    """The right to observe counts by name, as for Fairlead's own groups."""
    access = tmp_path / "access.toml"
    mine, other = made_token(), made_token()
    access.write_text(
        principal_text("mine", 'observe = ["g*"]', token=mine[1])
        + principal_text("other", 'observe = ["orders"]', token=other[1])
    )
    with serving_view([], access, _view()) as served:
        for token, groups, status in ((mine[0], 2, 200), (other[0], 0, 403)):
            login = {"Authorization": f"Bearer {token}"}
            listed = served.ask("GET", "/api/v1/native", headers=login).document
            assert len(listed["native_groups"]) == groups
            one = served.ask("GET", "/api/v1/native/kafka/groups/g", headers=login)
            assert one.status == status
        assert served.ask("GET", "/api/v1/native").status == 401


def test_commands_ask_serve(served: ServedView, capsys: pytest.CaptureFixture[str]) -> None:
    """`group list --native` and `group describe --native`, as tables and as JSON."""
    rows = _run(served, capsys, "group", "list", "--native", "-o", "json")
    assert_answers("NativeHead", orjson.loads(rows))
    table = _run(served, capsys, "group", "list", "--native", "--problem")
    assert "unassigned" in table
    assert "rocketmq" not in table
    assert "kafka at k:1: nobody answers" in table
    one = _run(served, capsys, "group", "describe", "g", "--native", "rocketmq", "-o", "json")
    assert_answer("NativeSeen", orjson.loads(one))
    assert "moves of a" in _run(served, capsys, "group", "describe", "g", "--native", "rocketmq")
    said = _run(served, capsys, "group", "describe", "h", "--native", "kafka", code=2)
    assert said == ""


@pytest.mark.parametrize("verb", ["describe", "show"])
def test_whoever_asks_for_a_native_group_as_for_an_own_one_hears_that(
    verb: str, served: ServedView, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error has the command that shows it; a group that nobody knows is none of these."""
    world = world_of("c1", queues={"orders": 4})
    world.pass_seconds(2)
    folder = str(recorded(world, tmp_path / "recording").folder)
    said = _run(served, capsys, "group", verb, "g", "--dump", folder, code=2, err=True)
    assert "this is a native group" in said
    assert "fairlead group describe g --native kafka" in said
    said = _run(served, capsys, "group", verb, "h", "--dump", folder, code=2, err=True)
    assert "there is no group h" in said


def test_nothing_is_listed_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the settings."""
    with serving_view([]) as served:
        _run(served, capsys, "group", "list", "--native", code=2)


def _run(
    served: ServedView,
    capsys: pytest.CaptureFixture[str],
    *words: str,
    code: int = 0,
    err: bool = False,
) -> str:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FAIRLEAD__SERVE__URL", f"http://127.0.0.1:{served.port}")
        with pytest.raises(SystemExit) as end:
            main(list(words))
    output = capsys.readouterr()
    assert end.value.code == code, output.err
    return output.err if err else output.out


def test_metrics_have_every_family_and_a_bound() -> None:
    """Groups beyond the bound have no series, and are counted."""
    shown = _scraped(NativeMetrics(_view(), 1))
    assert shown.families() == {each.name for each in NATIVE_FAMILIES}
    assert shown.value("fairlead_native_group_members", {"group": "g", "native": "rocketmq"}) == 2
    assert shown.value("fairlead_native_look_failures_total", {"native": "kafka"}) == 1
    folded = _scraped(NativeMetrics(_view(), 0))
    assert folded.value("fairlead_native_groups_folded", {"native": "kafka"}) == 1
    assert folded.labels("fairlead_native_group_members", "group") == set()


def _scraped(metrics: NativeMetrics) -> Scrape:
    registry = CollectorRegistry()
    registry.register(metrics)
    return Scrape(generate_latest(registry).decode())
