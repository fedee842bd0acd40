"""The kinds of panel, each with what a person needs to read it: unit, description, words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from typing import Final

from grafana_foundation_sdk.cog.variants import Dataquery as AnyQuery
from grafana_foundation_sdk.models import common, heatmap, stat, statetimeline, text, timeseries
from grafana_foundation_sdk.models.dashboard import (
    DashboardFieldConfigSourceOverrides,
    DashboardLink,
    DashboardRangeMapOptions,
    DataSourceRef,
    DynamicConfigValue,
    FieldColor,
    FieldColorModeId,
    FieldConfig,
    FieldConfigSource,
    GridPos,
    MatcherConfig,
    Panel,
    RangeMap,
    Threshold,
    ThresholdsConfig,
    ThresholdsMode,
    ValueMapping,
    ValueMappingResult,
)
from grafana_foundation_sdk.models.prometheus import Dataquery, PromQueryFormat

DATASOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")

SHORTEST_STEP: Final = "1m"
"""Between two points of a panel; at least two scrapes."""

Words = Sequence["Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """From a value on: its colour, and the word for it.

    Attributes:
        at: the least value that it is for; it ends where the next one begins.
        colour: a colour of Grafana.
        text: shown in place of the number; None: the number is shown.
    """

    at: float
    colour: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What a panel asks Prometheus.

    Attributes:
        expression: PromQL.
        legend: what its series are called.
        ref: its name in the panel; empty: by its place, A, B, ….
    """

    expression: str
    legend: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class PanelSize:
    """How large a panel is: columns of 24, lines of 38 pixels."""

    width: int
    height: int = 8


@dataclass(frozen=True, slots=True)
class Face:
    """What a panel says of itself.

    Attributes:
        title: what it shows.
        description: how to read it, and what to do about it.
        unit: of its values, as Grafana calls it; "none" of words.
        no_value: said where there is nothing to show.
        words: thresholds, with words.
        links: for each value.
    """

    title: str
    description: str
    unit: str
    no_value: str = "nothing in this time"
    words: Words = ()
    links: Sequence[DashboardLink] = field(default=())


def tile(face: Face, expression: str, size: PanelSize) -> Panel:
    """Return one value, now, on a coloured ground, as a word where there is one for it."""
    options = stat.Options(
        graph_mode=common.BigValueGraphMode.NONE,
        color_mode=common.BigValueColorMode.BACKGROUND,
        justify_mode=common.BigValueJustifyMode.CENTER,
        reduce_options=common.ReduceDataOptions(calcs=["lastNotNull"], values=False, fields=""),
        text_mode=common.BigValueTextMode.VALUE,
    )
    panel = _panel("stat", face, size, options)
    panel.targets = _targets([Question(expression)], instant=True)
    return panel


def lines(face: Face, questions: Sequence[Question], size: PanelSize) -> Panel:
    """Return values over time; a threshold, if there is one, is a line too."""
    custom = timeseries.FieldConfig(
        draw_style=common.GraphDrawStyle.LINE,
        line_width=1,
        fill_opacity=8,
        show_points=common.VisibilityMode.AUTO,
        span_nulls=False,
        thresholds_style=common.GraphThresholdsStyleConfig(
            mode=common.GraphTresholdsStyleMode.DASHED
            if face.words
            else common.GraphTresholdsStyleMode.OFF
        ),
    )
    return _over_time(face, questions, size, custom)


def points(face: Face, questions: Sequence[Question], size: PanelSize) -> Panel:
    """Return values that are there now and then only: nothing is drawn between them."""
    custom = timeseries.FieldConfig(
        draw_style=common.GraphDrawStyle.POINTS,
        point_size=6,
        show_points=common.VisibilityMode.ALWAYS,
    )
    return _over_time(face, questions, size, custom)


def bars(face: Face, questions: Sequence[Question], size: PanelSize) -> Panel:
    """Return counts for each step of time, one upon the other."""
    custom = timeseries.FieldConfig(
        draw_style=common.GraphDrawStyle.BARS,
        fill_opacity=80,
        line_width=0,
        stacking=common.StackingConfig(mode=common.StackingMode.NORMAL, group="A"),
    )
    return _over_time(face, questions, size, custom)


def heat_map(face: Face, buckets: str, size: PanelSize) -> Panel:
    """Return how many observations fell into each bucket, over time."""
    options = heatmap.Options(
        calculate=False,
        color=heatmap.HeatmapColorOptions(
            mode=heatmap.HeatmapColorMode.SCHEME, scheme="Blues", exponent=0.5, steps=32
        ),
        cell_gap=1,
        filter_values=heatmap.FilterValueRange(le=1e-9),
        y_axis=heatmap.YAxisConfig(unit=face.unit, axis_placement=common.AxisPlacement.LEFT),
        tooltip=heatmap.HeatmapTooltip(show=True, y_histogram=False),
        legend=heatmap.HeatmapLegend(show=True),
        rows_frame=heatmap.RowsHeatmapOptions(layout=common.HeatmapCellLayout.AUTO),
    )
    panel = _panel("heatmap", face, size, options)
    query = Dataquery(
        expr=buckets,
        format_val=PromQueryFormat.HEATMAP,
        range_val=True,
        legend_format="{{le}}",
        ref_id="A",
        datasource=DATASOURCE,
    )
    panel.targets = [query]
    panel.interval = SHORTEST_STEP
    return panel


def timeline(face: Face, questions: Sequence[Question], size: PanelSize) -> Panel:
    """Return states over time, each as a coloured stretch with its word in it."""
    options = statetimeline.Options(
        show_value=common.VisibilityMode.AUTO,
        merge_values=True,
        legend=_legend(),
        tooltip=common.VizTooltipOptions(mode=common.TooltipDisplayMode.SINGLE),
    )
    panel = _panel("state-timeline", face, size, options)
    panel.field_config.defaults.custom = statetimeline.FieldConfig(line_width=0, fill_opacity=80)
    panel.targets = _targets(questions, instant=False)
    panel.interval = "15s"
    return panel


def note(title: str, description: str, markdown: str, size: PanelSize) -> Panel:
    """Return a text."""
    options = text.Options(mode=text.TextMode.MARKDOWN, content=markdown)
    return _panel("text", Face(title, description, "none"), size, options)


def on_own_axis(panel: Panel, series: str, unit: str) -> None:
    """Give a series of a panel a unit and a scale of its own, at the right."""
    panel.field_config.overrides.append(
        DashboardFieldConfigSourceOverrides(
            matcher=MatcherConfig(id_val="byName", options=series),
            properties=[
                DynamicConfigValue("unit", unit),
                DynamicConfigValue("custom.axisPlacement", "right"),
            ],
        )
    )


def bare_table(face: Face, questions: Sequence[Question], size: PanelSize) -> Panel:
    """Return what the questions answer now, a row for each series; see `table.py`."""
    panel = _panel("table", face, size, None)
    panel.targets = _targets(questions, instant=True, table=True)
    return panel


def _over_time(
    face: Face, questions: Sequence[Question], size: PanelSize, custom: timeseries.FieldConfig
) -> Panel:
    options = timeseries.Options(
        legend=_legend(),
        tooltip=common.VizTooltipOptions(
            mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.DESCENDING
        ),
    )
    panel = _panel("timeseries", face, size, options)
    panel.field_config.defaults.custom = custom
    panel.field_config.defaults.min_val = 0
    panel.field_config.defaults.color = FieldColor(mode=FieldColorModeId.PALETTE_CLASSIC)
    panel.targets = _targets(questions, instant=False)
    panel.interval = SHORTEST_STEP
    return panel


def _legend() -> common.VizLegendOptions:
    return common.VizLegendOptions(
        display_mode=common.LegendDisplayMode.LIST,
        placement=common.LegendPlacement.BOTTOM,
        show_legend=True,
        calcs=[],
    )


def _panel(kind: str, face: Face, size: PanelSize, options: object) -> Panel:
    defaults = FieldConfig(
        unit=face.unit,
        no_value=face.no_value,
        mappings=mappings(face.words),
        thresholds=thresholds(face.words),
        color=FieldColor(mode=FieldColorModeId.THRESHOLDS),
        links=list(face.links) or None,
    )
    return Panel(
        type_val=kind,
        title=face.title,
        description=face.description,
        datasource=DATASOURCE,
        grid_pos=GridPos(h=size.height, w=size.width),
        options=options,
        field_config=FieldConfigSource(defaults=defaults, overrides=[]),
    )


def _targets(
    questions: Sequence[Question], *, instant: bool, table: bool = False
) -> list[AnyQuery]:
    return [
        Dataquery(
            expr=question.expression,
            legend_format=question.legend or None,
            instant=instant,
            range_val=not instant,
            format_val=PromQueryFormat.TABLE if table else PromQueryFormat.TIME_SERIES,
            ref_id=question.ref or chr(ord("A") + place),
            datasource=DATASOURCE,
        )
        for place, question in enumerate(questions)
    ]


def thresholds(words: Words) -> ThresholdsConfig:
    """Return where the colours change; without words everything has the colour of text."""
    first, *rest = words or (Word(0, "text"),)
    steps = [Threshold(None, first.colour), *(Threshold(word.at, word.colour) for word in rest)]
    return ThresholdsConfig(mode=ThresholdsMode.ABSOLUTE, steps=steps)


def mappings(words: Words) -> list[ValueMapping]:
    """Return the words that stand in place of numbers."""
    ends = [*(nextafter(word.at, -inf) for word in words[1:]), None]
    return [
        RangeMap(
            options=DashboardRangeMapOptions(
                from_val=word.at,
                to=end,
                result=ValueMappingResult(text=word.text, color=word.colour, index=place),
            )
        )
        for place, (word, end) in enumerate(zip(words, ends, strict=False))
        if word.text is not None
    ]
