"""What is around the panels: variables, marks in time, links, and the file of all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import (
    AnnotationContainer,
    AnnotationQuery,
    Dashboard,
    DashboardCursorSync,
    DashboardDashboardTemplating,
    DashboardDashboardTime,
    DashboardLink,
    VariableModel,
    VariableOption,
    VariableRefresh,
    VariableSort,
    VariableType,
)

from tools.dashboards.grid import Row, placed
from tools.dashboards.panel import DATASOURCE

TAG: Final = "fairlead"
_EVERY: Final = ".*"


@dataclass(frozen=True, slots=True)
class Page:
    """A dashboard.

    Attributes:
        uid: its name in links; it never changes.
        title: what people call it.
        description: whom it is for.
        rows: its panels.
        variables: what can be chosen.
        marks: what is marked in every panel over time.
        links: to where else to look.
    """

    uid: str
    title: str
    description: str
    rows: Sequence[Row]
    variables: Sequence[VariableModel]
    marks: Sequence[AnnotationQuery]
    links: Sequence[DashboardLink]


class Marks(AnnotationQuery):
    """Marks in time where a query has values, with a title made of their labels."""

    def __init__(self, name: str, expression: str, title: str, text: str) -> None:
        """Describe them.

        Args:
            name: of the switch that shows and hides them.
            expression: PromQL; a mark stands wherever it has a value.
            title: of each mark; ``{{group}}`` is the label of that name.
            text: below the title.
        """
        super().__init__(
            name=name, datasource=DATASOURCE, enable=True, icon_color="blue", expr=expression
        )
        self._title = title
        self._text = text

    def to_json(self) -> dict[str, object]:
        """Return what Grafana's data source for Prometheus reads besides."""
        return {
            **super().to_json(),
            "step": "60s",
            "titleFormat": self._title,
            "textFormat": self._text,
        }


def datasource_variable() -> VariableModel:
    """Return the choice among all Prometheus servers."""
    return VariableModel(
        type_val=VariableType.DATASOURCE, name="datasource", label="Prometheus", query="prometheus"
    )


def label_variable(
    name: str, label: str, description: str, query: str, *, several: bool = True
) -> VariableModel:
    """Return a choice among the values of a label: of all and several, or of one."""
    chosen = VariableOption(selected=True, text=["All"], value=["$__all"]) if several else None
    return VariableModel(
        type_val=VariableType.QUERY,
        name=name,
        label=label,
        description=description,
        query=query,
        datasource=DATASOURCE,
        current=chosen,
        multi=several,
        include_all=several,
        all_value=_EVERY if several else None,
        refresh=VariableRefresh.ON_TIME_RANGE_CHANGED,
        sort=VariableSort.ALPHABETICAL_ASC,
    )


def job_variable() -> VariableModel:
    """Return the choice among the jobs of Prometheus that scrape Fairlead."""
    return label_variable(
        "job",
        "Job",
        "Jobs of Prometheus that scrape engines, fairlead serve and applications.",
        'label_values({__name__=~"fairlead_build_info|fairlead_client_owned_queues"}, job)',
    )


def file_text(page: Page) -> bytes:
    """Return what stands in the file of a dashboard."""
    dashboard = Dashboard(
        uid=page.uid,
        title=page.title,
        description=page.description,
        tags=[TAG],
        editable=True,
        graph_tooltip=DashboardCursorSync.CROSSHAIR,
        time=DashboardDashboardTime(from_val="now-6h", to="now"),
        refresh="30s",
        version=1,
        panels=placed(page.rows),
        templating=DashboardDashboardTemplating(list_val=list(page.variables)),
        annotations=AnnotationContainer(list_val=list(page.marks)),
        links=list(page.links),
    )
    # A dashboard from a file has no number of its own: Grafana gives it one.
    fields = {"id": None, **dashboard.to_json()}
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(fields, default=JSONEncoder().default, option=options)
