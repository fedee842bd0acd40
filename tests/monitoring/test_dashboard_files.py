"""The dashboards as Grafana reads them: current, complete, and in their places."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.monitoring.dashboard_queries import FOLDER, dashboards, panels
from tools.dashboards.files import files, write
from tools.dashboards.rows.one_group import PHASES

ROOT = FOLDER.parents[2]
PROVISIONING = FOLDER.parent / "provisioning"
NAMES = sorted(dashboards())


@pytest.fixture(params=NAMES)
def dashboard(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each dashboard in turn."""
    found: dict[str, Any] = dashboards()[request.param]
    return found


def test_the_dashboards_are_those_of_the_code(tmp_path: Path) -> None:
    """What stands in deploy/ is what the code makes; else: make dashboards."""
    write(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert made == dict(files())


def test_there_are_two_dashboards() -> None:
    """There is the overview and the dashboard of one group."""
    assert NAMES == ["fairlead-group.json", "fairlead-overview.json"]


def test_a_dashboard_has_the_fixed_name_of_its_file(dashboard: dict[str, Any]) -> None:
    """A dashboard has the fixed name of its file and no number: links stay, Grafana numbers it."""
    assert f"{dashboard['uid']}.json" in NAMES
    assert "id" in dashboard
    assert dashboard["id"] is None


def test_grafana_reads_a_dashboard_back(dashboard: dict[str, Any]) -> None:
    """Grafana's own model reads a file back, and knows every field of the dashboard itself."""
    again = Dashboard.from_json(dashboard)
    known = again.to_json()
    assert {name for name in dashboard if name not in known} == {"id"}
    assert len(again.panels or []) == len(dashboard["panels"])


def test_each_panel_has_title_description_and_unit(dashboard: dict[str, Any]) -> None:
    """Each panel has a title, a description, a unit, and says what it means that it is empty."""
    silent = [
        (panel["title"], word)
        for panel in panels(dashboard)
        for word, said in (
            ("description", panel.get("description")),
            ("unit", panel["fieldConfig"]["defaults"].get("unit")),
            ("noValue", panel["fieldConfig"]["defaults"].get("noValue")),
            ("title", panel["title"]),
        )
        if not said
    ]
    assert silent == []


def test_every_query_asks_the_chosen_source(dashboard: dict[str, Any]) -> None:
    """Every panel, query, variable and mark asks the data source that is chosen, a variable."""
    asking = [
        *panels(dashboard),
        *(target for panel in panels(dashboard) for target in panel.get("targets", [])),
        *dashboard["annotations"]["list"],
        *(each for each in dashboard["templating"]["list"] if each["type"] == "query"),
    ]
    sources = [each["datasource"] for each in asking]
    assert sources
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)


def test_source_job_and_group_can_be_chosen() -> None:
    """Data source, job and group can be chosen: several groups or all, or one."""
    chosen = {
        name: {
            each["name"]: (each["multi"], each["includeAll"])
            for each in found["templating"]["list"]
        }
        for name, found in dashboards().items()
    }
    one, several = (False, False), (True, True)
    assert chosen == {
        "fairlead-overview.json": {"datasource": one, "job": several, "group": several},
        "fairlead-group.json": {"datasource": one, "job": several, "group": one},
    }


def test_no_two_panels_overlap(dashboard: dict[str, Any]) -> None:
    """No two panels overlap, none leaves the grid, and each has a number of its own."""
    taken: dict[tuple[int, int], str] = {}
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        columns = range(at["x"], at["x"] + at["w"])
        lines = range(at["y"], at["y"] + at["h"])
        for cell in itertools.product(columns, lines):
            assert cell not in taken, f"{panel['title']} lies on {taken[cell]}"
            taken[cell] = panel["title"]
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(numbers)) == len(numbers)


def test_the_overview_has_seven_rows() -> None:
    """The overview has seven rows, and all of the first is seen without scrolling."""
    found = dashboards()["fairlead-overview.json"]["panels"]
    rows = [panel for panel in found if panel["type"] == "row"]
    assert len(rows) == 7
    assert rows[0]["gridPos"]["y"] == 0
    # A screen of 1080 lines shows 22 rows of the grid below Grafana's own bars.
    assert rows[1]["gridPos"]["y"] <= 22


def test_every_tile_has_words_for_good_bad_and_unknown() -> None:
    """Every tile of the first row of the overview has a word for good, bad and unknown."""
    found = dashboards()["fairlead-overview.json"]
    tiles = [panel for panel in panels(found) if panel["type"] == "stat"]
    assert len(tiles) == 8
    for tile in tiles:
        defaults = tile["fieldConfig"]["defaults"]
        words = {each["options"]["result"]["text"] for each in defaults["mappings"]}
        # What has no word is a number with its noun: "3 queues".
        bad_is_said = "none" not in defaults["unit"] or len(words) == 4
        assert len(words) >= 2, tile["title"]
        assert bad_is_said, tile["title"]
        colours = [step["color"] for step in defaults["thresholds"]["steps"]]
        assert colours[:2] == ["purple", "green"], tile["title"]


def test_the_dashboard_knows_every_phase() -> None:
    """The dashboard of one group knows every phase that the engine writes."""
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    listed = re.search(r"`phase` of a group is one of (.*?)\.\n", page)
    assert listed is not None
    assert {word for word, _ in PHASES} - {"unknown"} == set(re.findall(r"`(\w+)`", listed[1]))


@pytest.mark.parametrize("part", ["datasources", "dashboards"])
def test_grafana_is_told_where_files_and_prometheus_are(part: str) -> None:
    """Grafana's own files say where the dashboards and the Prometheus are."""
    (path,) = (PROVISIONING / part).glob("*.yml")
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert told["apiVersion"] == 1
    (entry,) = told["datasources" if part == "datasources" else "providers"]
    assert entry["type"] == {"datasources": "prometheus", "dashboards": "file"}[part]
    where = entry["url"] if part == "datasources" else entry["options"]["path"]
    assert re.fullmatch(r"\$\{FAIRLEAD_\w+\}", where)
    assert f"`{where[2:-1]}`" in (ROOT / "docs" / "dashboards.md").read_text(encoding="utf-8")


def test_each_link_leads_to_a_dashboard() -> None:
    """Each link to a dashboard leads to one that there is, and takes the choices along."""
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.iterdir())
    links = re.findall(r'"/d/([\w-]+)\?([^"]*)"', text)
    assert {uid for uid, _ in links} == {"fairlead-overview", "fairlead-group"}
    assert all("${datasource:queryparam}" in query for _, query in links)
