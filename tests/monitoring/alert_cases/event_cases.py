"""When alerts on what happens to groups fire: on counters that are left out while they are 0."""

from tests.monitoring.alert_cases.case import Case, Check, client, of_client, of_serve, serve
from tests.monitoring.alert_cases.group_cases import ORDERS, UP, other

TIMEOUTS = serve("fairlead_handover_timeouts_total", **ORDERS)
EXPIRATIONS = serve("fairlead_client_expirations_total", **ORDERS)
CONFLICTS = serve("fairlead_client_id_conflicts_total", **ORDERS)
MISMATCH = serve("fairlead_subscription_mismatch", **ORDERS)
COMMITS = client("fairlead_client_commit_errors_total", **ORDERS)


def _rebalances(trigger: str) -> str:
    return serve("fairlead_rebalances_total", **ORDERS, trigger=trigger)


STORMS = (
    Case(
        "a client comes and goes for half an hour",
        {UP: "1x300", _rebalances("client_joined"): "_x81 1+1x200"},
        [
            Check("40m", "RebalanceStorm"),
            Check("46m", "RebalanceStorm", [of_serve("60", **ORDERS)]),
        ],
    ),
    Case(
        "it comes and dies: two triggers are one storm",
        {
            UP: "1x300",
            _rebalances("client_joined"): "0+1x100 100x100",
            _rebalances("client_expired"): "0+1x300",
        },
        [Check("50m", "RebalanceStorm", [of_serve("60", **ORDERS)])],
    ),
    Case(
        "a deployment: 40 within five minutes, and quiet after it",
        {UP: "1x300", _rebalances("client_joined"): "_x81 2+2x19 40x200"},
        [Check(at, "RebalanceStorm") for at in ("25m", "35m", "39m", "45m")],
    ),
    Case(
        "what follows from a rebalance, and what the engine heals, is none",
        {
            UP: "1x300",
            _rebalances("released"): "0+1x300",
            _rebalances("settled"): "0+1x300",
            _rebalances("trigger"): "0+1x300",
        },
        [Check("50m", "RebalanceStorm")],
    ),
)

EVENTS = (
    Case(
        "the first handover that times out, in one group of two",
        {UP: "1x300", TIMEOUTS: "_x81 1x200", other(MISMATCH): "0x300"},
        [
            Check("20m", "HandoverTimeouts"),
            Check("21m", "HandoverTimeouts", [of_serve("1", **ORDERS)]),
            Check("36m", "HandoverTimeouts"),
        ],
    ),
    Case(
        "a restart of serve: what it has counted before is not told again",
        {UP: "1x80 0x4 1x200", TIMEOUTS: "5x80 stale _x200"},
        [Check(at, "HandoverTimeouts") for at in ("21m", "30m", "40m")],
    ),
    Case(
        "one that times out after a restart of serve, as many as before it",
        {UP: "1x80 0x4 1x200", TIMEOUTS: "1x80 stale _x20 1x180"},
        [Check("40m", "HandoverTimeouts", [of_serve("1", **ORDERS)])],
    ),
    Case(
        "two before a restart of serve and three after it, of a group that had five",
        {UP: "1x80 0x1 1x200", TIMEOUTS: "5x60 7x19 stale _x10 3x180"},
        [
            Check("20m", "HandoverTimeouts", [of_serve("2", **ORDERS)]),
            Check("21m", "HandoverTimeouts", [of_serve("2", **ORDERS)]),
            Check("25m", "HandoverTimeouts", [of_serve("5", **ORDERS)]),
            Check("40m", "HandoverTimeouts"),
        ],
    ),
    Case(
        "what a new Prometheus sees for the first time may be old",
        {UP: "1x300", TIMEOUTS: "5x300", EXPIRATIONS: "90x300", CONFLICTS: "2x300"},
        [
            Check(at, alert)
            for alert in ("HandoverTimeouts", "ClientsExpiring", "ClientIdConflict")
            for at in ("1m", "14m", "16m")
        ],
    ),
    Case(
        "five clients fall silent; in another group two",
        {UP: "1x300", EXPIRATIONS: "_x81 5x200", other(EXPIRATIONS): "_x81 2x200"},
        [
            Check("20m", "ClientsExpiring"),
            Check("21m", "ClientsExpiring", [of_serve("5", **ORDERS)]),
            Check("36m", "ClientsExpiring"),
        ],
    ),
    Case(
        "one id, two processes",
        {UP: "1x300", CONFLICTS: "_x81 1x200"},
        [
            Check("20m", "ClientIdConflict"),
            Check("21m", "ClientIdConflict", [of_serve(**ORDERS)]),
            Check("36m", "ClientIdConflict"),
        ],
    ),
    Case(
        "members subscribe differently, and others did during a deployment",
        {MISMATCH: "1x60", other(MISMATCH): "1x20 0x60"},
        [
            Check("9m", "SubscriptionMismatch"),
            Check("10m", "SubscriptionMismatch", [of_serve(**ORDERS)]),
        ],
    ),
    Case(
        "commits fail again and again; one failed once",
        {COMMITS: "0x40 0+1x60", COMMITS.replace("c:1", "c:2"): "0x40 1x60"},
        [
            Check("10m", "CommitsFailing"),
            Check("14m", "CommitsFailing", [of_client(**ORDERS)]),
        ],
    ),
)

EXACTLY = (
    Case(
        "three clients fall silent, which is not more than three",
        {UP: "1x200", EXPIRATIONS: "2x60 5x140"},
        [Check(at, "ClientsExpiring") for at in ("18m", "20m", "25m", "30m", "32m")],
        interval="17s",
    ),
    Case(
        "a fourth does",
        {UP: "1x200", EXPIRATIONS: "2x60 5x20 6x120"},
        [
            Check("23m", "ClientsExpiring"),
            Check("24m", "ClientsExpiring", [of_serve("4", **ORDERS)]),
        ],
        interval="17s",
    ),
)
"""What ``increase`` would make a little more of: samples do not lie on the bounds of windows."""

EVENT_CASES = (*STORMS, *EVENTS, *EXACTLY)
