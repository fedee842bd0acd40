"""The overview: seven rows; the first answers whether all is safe."""

from typing import Final

from tools.dashboards.frame import (
    Marks,
    Page,
    datasource_variable,
    job_variable,
    label_variable,
)
from tools.dashboards.promql import STEP, of_groups
from tools.dashboards.rows.clients import clients
from tools.dashboards.rows.engine import engine
from tools.dashboards.rows.gateway import gateway
from tools.dashboards.rows.groups import groups
from tools.dashboards.rows.lag import lag
from tools.dashboards.rows.rebalances import rebalances
from tools.dashboards.rows.safety import safety

_MARKED: Final = 20
"""Decisions of more groups are not marked: they would cover everything."""


def overview() -> Page:
    """Return the dashboard that opens first."""
    return Page(
        uid="fairlead-overview",
        title="Fairlead",
        description="Is it safe, what moved and why, who is behind: all groups.",
        rows=[safety(), rebalances(), groups(), lag(), engine(), clients(), gateway()],
        variables=[
            datasource_variable(),
            job_variable(),
            label_variable(
                "group",
                "Group",
                "Consumer groups; all but the engine's panels are of the chosen ones.",
                "label_values(fairlead_group_phase, group)",
            ),
        ],
        marks=[_decisions()],
        links=[],
    )


def _decisions() -> Marks:
    """Return a mark at each decision, while few groups are chosen."""
    decided = of_groups("fairlead_group_epoch").changes(STEP)
    few = f"count({of_groups('fairlead_group_epoch')}) <= {_MARKED}"
    return Marks(
        "Decisions",
        f"{decided} > 0 and on () {few}",
        "{{group}}",
        "The group's epoch changed: it was decided on. `fairlead moves {{group}}` says what moved.",
    )
