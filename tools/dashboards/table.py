"""Tables: one row for each group, a column for each thing that is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grafana_foundation_sdk.models.common import TableFooterOptions, TableSortByFieldState
from grafana_foundation_sdk.models.dashboard import (
    DashboardFieldConfigSourceOverrides,
    DashboardLink,
    DashboardLinkType,
    DataTransformerConfig,
    DynamicConfigValue,
    MatcherConfig,
    Panel,
)
from grafana_foundation_sdk.models.table import Options

from tools.dashboards.panel import (
    Face,
    PanelSize,
    Question,
    Words,
    bare_table,
    mappings,
    thresholds,
)

GROUP_UID: Final = "fairlead-group"
"""The dashboard of one group."""

_VARIABLES: Final = "${datasource:queryparam}&${job:queryparam}&${__url_time_range}"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        title: its head.
        expression: what it shows; its labels are columns too. None: it is a label of another one.
        label: the label that it shows, if it shows one and not a value.
        unit: of its values.
        words: colours and words of its values.
        width: in pixels; None: what is left.
        opens_group: its values are groups, and each is a link to the dashboard of one group.
    """

    title: str
    expression: str | None = None
    label: str | None = None
    unit: str | None = None
    words: Words = ()
    width: int | None = None
    opens_group: bool = False


def group_link() -> DashboardLink:
    """Return the link from a group in a table to its own dashboard."""
    return DashboardLink(
        title="Open the dashboard of this group",
        type_val=DashboardLinkType.LINK,
        url=f"/d/{GROUP_UID}?var-group=${{__value.raw:percentencode}}&{_VARIABLES}",
    )


def table(
    face: Face, columns: Sequence[Column], size: PanelSize, sort_by: Sequence[str] = ()
) -> Panel:
    """Return a table of what the columns ask, joined by the labels that their answers share.

    Args:
        face: what it says of itself.
        columns: from left to right.
        size: how large it is.
        sort_by: titles of columns, the greatest value first.
    """
    asked = [column for column in columns if column.expression is not None]
    questions = [Question(column.expression or "") for column in asked]
    panel = bare_table(face, questions, size)
    single = len(questions) == 1
    values = {
        column.title: "Value" if single else f"Value #{chr(ord('A') + place)}"
        for place, column in enumerate(asked)
    }
    names = [column.label or values[column.title] for column in columns]
    panel.transformations = [
        DataTransformerConfig(id_val="merge", options={}),
        DataTransformerConfig(
            id_val="organize",
            options={
                "excludeByName": {
                    "Time": True,
                    # The value of a question that is asked for its labels is always 1.
                    **{value: True for value in values.values() if value not in names},
                },
                "indexByName": {name: place for place, name in enumerate(names)},
                "renameByName": {
                    name: column.title for name, column in zip(names, columns, strict=True)
                },
            },
        ),
    ]
    panel.options = Options(
        sort_by=[TableSortByFieldState(display_name=title, desc=True) for title in sort_by],
        footer=TableFooterOptions(
            show=False, reducer=[], count_rows=False, enable_pagination=True, fields=[]
        ),
    )
    panel.field_config.overrides = [_override(column) for column in columns]
    return panel


def _override(column: Column) -> DashboardFieldConfigSourceOverrides:
    properties = []
    if column.unit is not None:
        properties.append(DynamicConfigValue("unit", column.unit))
    if column.width is not None:
        properties.append(DynamicConfigValue("custom.width", column.width))
    if column.words:
        properties += [
            DynamicConfigValue("thresholds", thresholds(column.words)),
            DynamicConfigValue("mappings", mappings(column.words)),
            DynamicConfigValue("custom.cellOptions", {"type": "color-text"}),
        ]
    if column.opens_group:
        properties.append(DynamicConfigValue("links", [group_link()]))
    return DashboardFieldConfigSourceOverrides(
        matcher=MatcherConfig(id_val="byName", options=column.title), properties=properties
    )
