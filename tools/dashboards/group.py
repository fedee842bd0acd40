"""The dashboard of one group: what the overview leads to."""

from grafana_foundation_sdk.models.dashboard import DashboardLink, DashboardLinkType

from tools.dashboards.frame import (
    Marks,
    Page,
    datasource_variable,
    job_variable,
    label_variable,
)
from tools.dashboards.promql import STEP, of_groups
from tools.dashboards.rows.one_group import (
    how_far,
    how_it_is,
    single_queues,
    what_happened,
)
from tools.dashboards.table import GROUP_UID


def one_group(overview_uid: str) -> Page:
    """Return the dashboard of one group, with the way back to the overview of that name."""
    decided = of_groups("fairlead_group_epoch").changes(STEP)
    back = DashboardLink(
        title="All groups",
        type_val=DashboardLinkType.LINK,
        icon="arrow-left",
        url=f"/d/{overview_uid}?${{datasource:queryparam}}&${{job:queryparam}}",
        keep_time=True,
    )
    return Page(
        uid=GROUP_UID,
        title="Fairlead: one group",
        description="One group: how it is, what happened, how far it is.",
        rows=[how_it_is(), what_happened(), how_far(), single_queues()],
        variables=[
            datasource_variable(),
            job_variable(),
            label_variable(
                "group",
                "Group",
                "The consumer group.",
                "label_values(fairlead_group_phase, group)",
                several=False,
            ),
        ],
        marks=[
            Marks(
                "Decisions",
                f"{decided} > 0",
                "{{group}}",
                "The group's epoch changed: it was decided on.",
            )
        ],
        links=[back],
    )
