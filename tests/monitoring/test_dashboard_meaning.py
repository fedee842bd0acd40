"""What the first row says, and how counters are counted: answers of Prometheus' own engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.monitoring.dashboard_queries import CHOSEN
from tests.monitoring.promtool import promtool
from tools.dashboards import conditions
from tools.dashboards.promql import of_groups

MINUTES: Final = 20
NOW: Final = f"{MINUTES}m"
SERVE: Final = 'job="fairlead-serve", instance="s:9465"'
ENGINE: Final = 'job="fairlead-engine", instance="e:9464"'
ORDERS: Final = f'{SERVE}, group="orders"'
Seen = Mapping[str, str]

WELL: Final[Seen] = {
    f"fairlead_view_ready{{{SERVE}}}": "1x20",
    f'fairlead_view_lag_records{{{SERVE}, topic="decisions"}}': "0x20",
    f"fairlead_generation{{{ENGINE}}}": "3x20",
    f"fairlead_last_batch_timestamp_seconds{{{ENGINE}}}": "0+60x20",
    f'fairlead_input_lag_records{{{ENGINE}, topic="heartbeats"}}': "5x20",
    f'fairlead_group_phase{{{ORDERS}, phase="stable"}}': "1x20",
    f"fairlead_group_members{{{ORDERS}}}": "3x20",
    f"fairlead_group_converged{{{ORDERS}}}": "1x20",
    f"fairlead_group_queues_unsafe{{{ORDERS}}}": "0x20",
    f'fairlead_group_queues_unassigned{{{ORDERS}, topic="t"}}': "0x20",
}
"""An engine, a view and one group that are well, once a minute."""

UNASSIGNED: Final = f'fairlead_group_queues_unassigned{{{ORDERS}, topic="t"}}'
GONE: Final = "1x5 stale"
"""Scraped for five minutes, and then never again."""

SAFE, LOOK, UNSAFE, UNKNOWN = 0, 1, 2, -1


def _answer(folder: Path, expression: str, seen: Seen, expected: Sequence[float]) -> str:
    """Return what promtool says against these values of the expression after all that was seen."""
    for variable, value in CHOSEN.items():
        expression = expression.replace(variable, value)
    samples = [{"labels": "{}", "value": value} for value in expected]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in seen.items()],
        "promql_expr_test": [{"expr": expression, "eval_time": NOW, "exp_samples": samples}],
    }
    path = folder / "meaning.yml"
    path.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [test]}))
    code, said = promtool("test", "rules", path)
    return "" if code == 0 else said


@pytest.mark.parametrize(
    "verdict, otherwise",
    [
        pytest.param(SAFE, {}, id="all is well"),
        pytest.param(
            UNSAFE,
            {f"fairlead_group_queues_unsafe{{{ORDERS}}}": "0x18 1 1"},
            id="two clients may be reading one queue",
        ),
        pytest.param(
            UNSAFE,
            {f"fairlead_overlap_violations_total{{{ORDERS}}}": "_x17 1x3"},
            id="the first overlap, of a series that was not there before",
        ),
        pytest.param(
            SAFE,
            {f"fairlead_overlap_violations_total{{{ORDERS}}}": "_x5 1x15"},
            id="an overlap that is long over",
        ),
        pytest.param(LOOK, {UNASSIGNED: "0x18 2 2"}, id="queues without owner"),
        pytest.param(
            SAFE,
            {UNASSIGNED: "2x20", f"fairlead_group_members{{{ORDERS}}}": "0x20"},
            id="an offline group owns nothing",
        ),
        pytest.param(
            SAFE,
            {f"fairlead_group_converged{{{ORDERS}}}": "1x16 0x4"},
            id="a handover of three minutes",
        ),
        pytest.param(
            LOOK, {f"fairlead_group_converged{{{ORDERS}}}": "1x10 0x10"}, id="a stuck group"
        ),
        pytest.param(
            SAFE,
            {f"fairlead_group_converged{{{ORDERS}}}": "_x17 0x3"},
            id="a group of two minutes that has not converged yet",
        ),
        pytest.param(
            LOOK,
            {f'fairlead_group_alarm{{{ORDERS}, alarm="mute_member"}}': "_x18 1 1"},
            id="an alarm",
        ),
        pytest.param(
            LOOK,
            {f"fairlead_last_batch_timestamp_seconds{{{ENGINE}}}": "0+60x10 600x10"},
            id="an engine that stands still",
        ),
        pytest.param(
            LOOK,
            {f'fairlead_input_lag_records{{{ENGINE}, topic="heartbeats"}}': "20000x20"},
            id="an engine that is behind",
        ),
        pytest.param(
            LOOK,
            {f'fairlead_view_lag_records{{{SERVE}, topic="decisions"}}': "20000x20"},
            id="a view that is behind",
        ),
        pytest.param(
            UNKNOWN,
            {
                f"fairlead_generation{{{ENGINE}}}": GONE,
                f"fairlead_last_batch_timestamp_seconds{{{ENGINE}}}": GONE,
                f'fairlead_input_lag_records{{{ENGINE}, topic="heartbeats"}}': GONE,
            },
            id="no engine is scraped any more",
        ),
        pytest.param(
            UNKNOWN,
            {name: GONE for name in WELL if SERVE in name},
            id="no view is scraped any more",
        ),
        pytest.param(
            UNKNOWN, {f"fairlead_view_ready{{{SERVE}}}": "0x20"}, id="a view that still reads"
        ),
        pytest.param(
            UNSAFE,
            {
                f"fairlead_group_queues_unsafe{{{ORDERS}}}": "1x20",
                f"fairlead_generation{{{ENGINE}}}": GONE,
                f"fairlead_last_batch_timestamp_seconds{{{ENGINE}}}": GONE,
            },
            id="what is known to be unsafe is unsafe without an engine",
        ),
    ],
)
def test_the_verdict_is_safe_only_of_what_is_seen(
    tmp_path: Path, verdict: float, otherwise: Seen
) -> None:
    """The first tile says safe only of what somebody sees, and unsafe before all else."""
    seen = {**WELL, **otherwise}
    assert _answer(tmp_path, conditions.VERDICT, seen, [verdict]) == ""


def test_a_prometheus_without_targets_knows_nothing(tmp_path: Path) -> None:
    """A Prometheus that scrapes no Fairlead knows nothing."""
    seen = {'up{job="other"}': "1x20"}
    assert _answer(tmp_path, conditions.VERDICT, seen, [UNKNOWN]) == ""


@pytest.mark.parametrize(
    "values, grown",
    [
        pytest.param("7x20", [0], id="nothing happened"),
        pytest.param("7x17 9x3", [2], id="two events, in whole numbers"),
        pytest.param("_x17 2x3", [2], id="born with its first two events"),
        pytest.param("7x17 _ 1x2", [1], id="reset, and one event since"),
        pytest.param("7x10 _x10", [], id="reset, and none since"),
    ],
)
def test_the_growth_of_a_counter_is_exact(tmp_path: Path, values: str, grown: list[float]) -> None:
    """A counter's growth is exact, at its birth and after a restart of its exporter too."""
    series = of_groups("fairlead_rebalances_total", "trigger").grown("5m")
    name = f'fairlead_rebalances_total{{{ORDERS}, trigger="client_joined"}}'
    summed = f"sum({series})"
    assert _answer(tmp_path, summed, {name: values}, grown) == ""


def test_two_views_of_one_group_are_not_added_up(tmp_path: Path) -> None:
    """Two `fairlead serve` that tell the same of a group are not added up."""
    other = ORDERS.replace("s:9465", "other:9465")
    seen = {
        f"fairlead_group_queues_unsafe{{{ORDERS}}}": "2x20",
        f"fairlead_group_queues_unsafe{{{other}}}": "2x20",
        f"fairlead_view_ready{{{SERVE}}}": "1x20",
    }
    assert _answer(tmp_path, conditions.UNSAFE, seen, [2]) == ""


@pytest.mark.parametrize(
    "seen, shown",
    [
        pytest.param(WELL, [0], id="nobody is stuck while somebody looks"),
        pytest.param({}, [UNKNOWN], id="not known while nobody does"),
    ],
)
def test_a_tile_shows_0_only_while_a_view_is_there(
    tmp_path: Path, seen: Seen, shown: list[float]
) -> None:
    """A tile shows 0 only while a view is there that would tell of more."""
    expression = conditions.counted(conditions.STUCK_GROUPS)
    seen = {**seen, 'up{job="x"}': "1x20"}
    assert _answer(tmp_path, expression, seen, shown) == ""
