"""What is silent about held groups, and what is not about groups shown together."""

from tests.monitoring.alert_cases.case import Case, Check, of_serve, serve
from tests.monitoring.alert_cases.group_cases import CONVERGED, MEMBERS, ORDERS, UNASSIGNED

OTHER = {"group": "__other__"}


def _folded(series: str) -> str:
    named = series.replace('group="orders"', 'group="__other__"')
    return named.replace('topic="orders"', 'topic="__other__"')


def _phase(group: dict[str, str], phase: str) -> str:
    return serve("fairlead_group_phase", **group, phase=phase)


HELD = tuple(
    Case(
        f"a group that is {phase} is not at rest, and pages nobody for its queues",
        {MEMBERS: "3x60", UNASSIGNED: "8x60", CONVERGED: "0x60", _phase(ORDERS, phase): "1x60"},
        [Check("10m", "QueuesUnassigned"), Check("10m", "NotConverged")],
    )
    for phase in (
        "quarantined", "recovering", "settling", "waiting_for_offsets", "waiting_for_route",
        "waiting_for_clients",
    )
)  # fmt: skip

FOLDED = (
    Case(
        "groups told together: two in quarantine, three wait, two have an alarm",
        {
            _folded(MEMBERS): "20x60",
            _phase(OTHER, "stable"): "10x60",
            _phase(OTHER, "quarantined"): "2x60",
            _phase(OTHER, "waiting_for_route"): "3x60",
            serve("fairlead_group_alarm", **OTHER, alarm="designation_empty"): "2x60",
        },
        [
            Check("10m", "GroupQuarantined", [of_serve(**OTHER, phase="quarantined")]),
            Check("10m", "GroupWaits", [of_serve(**OTHER, phase="waiting_for_route")]),
            Check("10m", "GroupAlarm", [of_serve(**OTHER, alarm="designation_empty")]),
        ],
    ),
    Case(
        "one of the groups told together is paused, and others do not come to rest",
        {
            _folded(MEMBERS): "20x60",
            _folded(UNASSIGNED): "4x60",
            _folded(CONVERGED): "0x60",
            _phase(OTHER, "stable"): "10x60",
            _phase(OTHER, "paused"): "1x60",
        },
        [
            Check("10m", "QueuesUnassigned", [of_serve("4", **OTHER, topic="__other__")]),
            Check("10m", "NotConverged", [of_serve(**OTHER)]),
        ],
    ),
)

HELD_CASES = (*HELD, *FOLDED)
