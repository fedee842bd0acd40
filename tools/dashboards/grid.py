"""Where panels stand: rows one below the other, panels from left to right, numbers that stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grafana_foundation_sdk.models.dashboard import GridPos, Panel, RowPanel

COLUMNS: Final = 24
_PER_ROW: Final = 100


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under one heading.

    Attributes:
        title: the heading: a question that the panels answer.
        panels: from left to right; what does not fit begins a new line.
    """

    title: str
    panels: Sequence[Panel]


def placed(rows: Sequence[Row]) -> list[Panel | RowPanel]:
    """Return all panels where they stand.

    The number of a panel, which is part of links to it, tells its row and its place there: a panel
    that is added at the end of a row changes no other one's.
    """
    placed: list[Panel | RowPanel] = []
    top = 0
    for number, row in enumerate(rows, start=1):
        here = GridPos(h=1, w=COLUMNS, x=0, y=top)
        placed.append(RowPanel(title=row.title, grid_pos=here, id_val=number * _PER_ROW))
        top = _place(row.panels, top + 1)
        for place, panel in enumerate(row.panels, start=1):
            panel.id_val = number * _PER_ROW + place
            placed.append(panel)
    return placed


def _place(panels: Sequence[Panel], top: int) -> int:
    """Give each panel its place from this line on, and return the line below them."""
    left = height = 0
    for panel in panels:
        position = panel.grid_pos
        assert position is not None
        assert position.w <= COLUMNS
        if left + position.w > COLUMNS:
            top, left, height = top + height, 0, 0
        position.x, position.y = left, top
        left, height = left + position.w, max(height, position.h)
    return top + height
