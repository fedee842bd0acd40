"""When the alerts about groups fire, and when they do not."""

from tests.monitoring.alert_cases.case import Case, Check, Firing, of_serve, serve

ORDERS = {"group": "orders"}
UP = serve("up")
MEMBERS = serve("fairlead_group_members", **ORDERS)
PAUSED = serve("fairlead_group_phase", **ORDERS, phase="paused")
OVERLAPS = serve("fairlead_overlap_violations_total", **ORDERS)
UNASSIGNED = serve("fairlead_group_queues_unassigned", **ORDERS, topic="orders")
CONVERGED = serve("fairlead_group_converged", **ORDERS)


def other(series: str) -> str:
    """The same series of another group."""
    return series.replace('group="orders"', 'group="billing"')


SAFETY = (
    Case(
        "an overlap: the series is born with it, in one group of two",
        {UP: "1x100", OVERLAPS: "_x21 1x80", other(MEMBERS): "3x100"},
        [
            Check("5m", "OverlapDetected"),
            Check("5m15s", "OverlapDetected", [of_serve(**ORDERS)]),
            Check("10m", "OverlapDetected", [of_serve(**ORDERS)]),
            Check("11m", "OverlapDetected"),
        ],
    ),
    Case(
        "another overlap, of a group that had one last week",
        {UP: "1x100", OVERLAPS: "7x60 8x40"},
        [
            Check("15m", "OverlapDetected"),
            Check("15m15s", "OverlapDetected", [of_serve(**ORDERS)]),
        ],
    ),
    Case(
        "a restart of serve, which counts from 0 again: silent; an overlap after it: told in time",
        {
            UP: "1x40 0x4 1x100",
            OVERLAPS: "3x40 stale _x20 1x80",
            other(OVERLAPS): "3x40 stale _x100",
        },
        [
            Check("15m", "OverlapDetected"),
            Check("16m30s", "OverlapDetected", [of_serve(**ORDERS)]),
        ],
    ),
    Case(
        "serve is started again within the window of an overlap: it fires for as long as else",
        {UP: "1x44 0x2 1x100", OVERLAPS: "_x40 1x4 stale"},
        [
            Check("9m45s", "OverlapDetected"),
            *(
                Check(at, "OverlapDetected", [of_serve(**ORDERS)])
                for at in ("10m", "11m", "11m30s", "12m", "14m", "14m45s")
            ),
            Check("16m15s", "OverlapDetected"),
        ],
    ),
    Case(
        "serve goes down for good within the window of an overlap",
        {UP: "1x44 0x100", OVERLAPS: "7x39 8x4 stale"},
        [
            *(
                Check(at, "OverlapDetected", [of_serve(**ORDERS)])
                for at in ("10m", "11m30s", "13m", "14m45s")
            ),
            Check("16m15s", "OverlapDetected"),
        ],
    ),
    Case(
        "an overlap, a restart of serve, and another: as many as before it, and told at once",
        {UP: "1x44 0x2 1x100", OVERLAPS: "_x40 1x4 stale _x20 1x100"},
        [
            *(
                Check(at, "OverlapDetected", [of_serve(**ORDERS)])
                for at in ("10m", "12m", "14m45s", "16m30s", "18m", "20m")
            ),
            Check("22m", "OverlapDetected"),
        ],
    ),
    Case(
        "serve is started again within minutes of a new Prometheus, which saw an old overlap",
        {UP: "_x20 1x10 0x1 1x100", OVERLAPS: "_x20 3x10 stale"},
        [Check(at, "OverlapDetected") for at in ("6m", "8m", "9m", "11m", "13m")],
    ),
    Case(
        "the way to serve is lost for minutes, and then serve is started again: an old overlap",
        {UP: "1x40 0x8 1x10 0x1 1x100", OVERLAPS: "3x40 stale _x7 3x10 stale"},
        [Check(at, "OverlapDetected") for at in ("12m", "14m", "15m", "16m", "17m", "18m", "20m")],
    ),
    Case(
        "a scrape that fails, of a serve that counted an overlap last week",
        {UP: "1x40 0x1 1x100", OVERLAPS: "3x40 stale 3x100"},
        [Check(at, "OverlapDetected") for at in ("10m15s", "10m45s", "15m15s", "15m30s", "16m")],
    ),
    Case(
        "an overlap, and five minutes before it a scrape that failed",
        {UP: "1x20 0x1 1x100", OVERLAPS: "_x40 1x80"},
        [Check("10m15s", "OverlapDetected", [of_serve(**ORDERS)])],
    ),
    Case(
        "what a new Prometheus sees for the first time may be old",
        {UP: "1x100", OVERLAPS: "3x100"},
        [Check(at, "OverlapDetected") for at in ("0m", "1m", "6m")],
    ),
    Case(
        "an overlap in the second minute that a new serve, or a new Prometheus, is there",
        {UP: "_x20 1x100", OVERLAPS: "_x26 1x100"},
        [
            Check("6m", "OverlapDetected"),
            Check("6m30s", "OverlapDetected", [of_serve(**ORDERS)]),
            Check("12m", "OverlapDetected"),
        ],
    ),
    Case(
        "Prometheus was away for three minutes: an old overlap is not told again, a new one is",
        {
            UP: "1x119 _x12 1x260",
            OVERLAPS: "1x119 _x12 1x260",
            other(OVERLAPS): "1x119 _x12 2x260",
        },
        [
            Check("33m30s", "OverlapDetected", [of_serve(group="billing")]),
            Check("36m", "OverlapDetected"),
        ],
    ),
    Case(
        "serve goes down: ServeDown, and nothing about groups",
        {UP: "1x20 0x80", OVERLAPS: "1x20 stale", MEMBERS: "3x20 stale", UNASSIGNED: "4x5 stale"},
        [
            Check("10m", "ServeDown"),
            Check("10m15s", "ServeDown", [Firing({"job": "fairlead-serve"})]),
            Check("30m", "ServeInstanceDown"),
            Check("20m", "OverlapDetected"),
            Check("20m", "QueuesUnassigned"),
        ],
    ),
    Case(
        "of two serves one is down: a ticket, and no page",
        {UP: "1x200", serve("up", instance="s:2"): "1x20 0x180"},
        [
            Check("40m", "ServeDown"),
            Check("20m", "ServeInstanceDown"),
            Check("20m15s", "ServeInstanceDown", [of_serve(instance="s:2")]),
        ],
    ),
    Case(
        "no serve is scraped at all",
        {UP.replace("serve", "engine"): "1x60"},
        [
            Check("4m45s", "ServeDown"),
            Check("5m", "ServeDown", [Firing({"job": "fairlead-serve"})]),
        ],
    ),
)

OWNERS = (
    Case(
        "two queues have nobody; of a group that is well none",
        {
            MEMBERS: "3x60",
            UNASSIGNED: "0x8 2x50",
            other(MEMBERS): "3x60",
            other(UNASSIGNED): "0x60",
        },
        [
            Check("4m", "QueuesUnassigned"),
            Check("4m15s", "QueuesUnassigned", [of_serve("2", **ORDERS, topic="orders")]),
        ],
    ),
    Case(
        "a paused group, and one without members, have queues with nobody",
        {
            MEMBERS: "3x60",
            PAUSED: "1x60",
            UNASSIGNED: "2x60",
            CONVERGED: "0x60",
            other(MEMBERS): "0x60",
            other(UNASSIGNED): "8x60",
            other(CONVERGED): "0x60",
        },
        [Check("10m", "QueuesUnassigned"), Check("10m", "NotConverged")],
    ),
    Case(
        "a take-over that does not end, of one that died meanwhile, and one that takes seconds",
        {
            MEMBERS: "3x60",
            UNASSIGNED: "2x60",
            CONVERGED: "0x60",
            serve("fairlead_group_phase", **ORDERS, phase="taking_over"): "0x8 1x50",
            serve("fairlead_group_phase", **ORDERS, phase="standby"): "1x8 0x50",
            other(MEMBERS): "3x60",
            other(UNASSIGNED): "4x60",
            serve("fairlead_group_phase", group="billing", phase="taking_over"): "0x8 1x1 0x50",
            serve("fairlead_group_phase", group="billing", phase="standby"): "1x8 0x1 1x50",
        },
        [
            Check("4m", "QueuesUnassigned"),
            Check("4m15s", "QueuesUnassigned", [of_serve("2", **ORDERS, topic="orders")]),
            Check("7m", "NotConverged"),
            Check("7m15s", "NotConverged", [of_serve(**ORDERS)]),
        ],
    ),
    Case(
        "queues that have nobody for a minute, again and again",
        {MEMBERS: "3x60", UNASSIGNED: "2x4 0x1 2x4 0x1 2x4 0x1 2x4 0x40"},
        [Check(at, "QueuesUnassigned") for at in ("2m", "4m", "6m")],
    ),
    Case(
        "a handover that does not end, one that does, and a group that waits for its route",
        {
            MEMBERS: "3x60",
            CONVERGED: "1x8 0x50",
            other(MEMBERS): "3x60",
            other(CONVERGED): "0x10 1x50",
            serve("fairlead_group_members", group="new"): "3x60",
            serve("fairlead_group_converged", group="new"): "0x60",
            serve("fairlead_group_phase", group="new", phase="waiting_for_route"): "1x60",
        },
        [
            Check("7m", "NotConverged"),
            Check("7m15s", "NotConverged", [of_serve(**ORDERS)]),
        ],
    ),
    Case(
        "a group in quarantine",
        {
            serve("fairlead_group_phase", **ORDERS, phase="quarantined"): "_x9 1x40",
            serve("fairlead_group_phase", group="billing", phase="stable"): "1x40",
        },
        [
            Check("4m", "GroupQuarantined"),
            Check("4m15s", "GroupQuarantined", [of_serve(**ORDERS, phase="quarantined")]),
        ],
    ),
    Case(
        "members without a queue: of a group, of a broadcasting, a paused and a waiting one",
        {
            serve("fairlead_group_members_idle", group="new"): "2x200",
            serve("fairlead_group_phase", group="new", phase="waiting_for_route"): "1x200",
            serve("fairlead_group_members_idle", **ORDERS): "2x200",
            serve("fairlead_group_members_idle", group="news"): "2x200",
            serve("fairlead_group_info", group="news", message_model="broadcasting"): "1x200",
            serve("fairlead_group_members_idle", group="billing"): "2x200",
            serve("fairlead_group_phase", group="billing", phase="paused"): "1x200",
        },
        [
            Check("29m45s", "MembersIdle"),
            Check("30m", "MembersIdle", [of_serve("2", **ORDERS)]),
        ],
    ),
    Case(
        "a group waits for a route; one without members waits for nothing",
        {
            MEMBERS: "3x60",
            serve("fairlead_group_phase", **ORDERS, phase="waiting_for_route"): "1x60",
            other(MEMBERS): "0x60",
            serve("fairlead_group_phase", group="billing", phase="waiting_for_offsets"): "1x60",
        },
        [
            Check("4m45s", "GroupWaits"),
            Check("5m", "GroupWaits", [of_serve(**ORDERS, phase="waiting_for_route")]),
        ],
    ),
    Case(
        "somebody without Fairlead comes, and goes",
        {serve("fairlead_group_alarm", **ORDERS, alarm="foreign_member"): "_x8 1x60 stale"},
        [
            Check("2m45s", "ForeignMember"),
            Check("3m", "ForeignMember", [of_serve(**ORDERS, alarm="foreign_member")]),
            Check("14m", "GroupAlarm"),
            Check("18m", "ForeignMember"),
        ],
    ),
    Case(
        "an alarm that stands; one that has an alert of its own; one that is over",
        {
            serve("fairlead_group_alarm", **ORDERS, alarm="designation_empty"): "1x60",
            serve("fairlead_group_alarm", **ORDERS, alarm="mute_member"): "1x60",
            serve("fairlead_group_alarm", **ORDERS, alarm="clock_jump"): "1x60",
            serve("fairlead_group_alarm", group="billing", alarm="rule_without_effect"): (
                "1x20 stale"
            ),
        },
        [
            Check("9m45s", "GroupAlarm"),
            Check("10m", "GroupAlarm", [of_serve(**ORDERS, alarm="designation_empty")]),
        ],
    ),
)

LAG = (
    Case(
        "all clients of a group are gone, messages of two topics wait; another has read all",
        {
            MEMBERS: "3x8 0x60",
            serve("fairlead_group_lag_messages", **ORDERS, topic="orders"): "40x80",
            serve("fairlead_group_lag_messages", **ORDERS, topic="returns"): "2x80",
            other(MEMBERS): "0x80",
            serve("fairlead_group_lag_messages", group="billing", topic="orders"): "0x80",
        },
        [
            Check("12m", "GroupOfflineWithLag"),
            Check("12m15s", "GroupOfflineWithLag", [of_serve("42", **ORDERS)]),
        ],
    ),
    Case(
        "ever further behind; as far behind as before; far behind without members",
        {
            MEMBERS: "3x200",
            serve("fairlead_group_lag_messages", **ORDERS, topic="orders"): "1000+50x200",
            serve("fairlead_group_lag_seconds", **ORDERS, topic="orders"): "200+10x200",
            serve("fairlead_group_lag_messages", **ORDERS, topic="returns"): "1000x200",
            serve("fairlead_group_lag_seconds", **ORDERS, topic="returns"): "900x200",
            other(MEMBERS): "0x200",
            serve("fairlead_group_lag_messages", group="billing", topic="orders"): "0+5x200",
            serve("fairlead_group_lag_seconds", group="billing", topic="orders"): "900x200",
        },
        [
            Check("7m30s", "LagGrowing"),
            Check("8m", "LagGrowing", [of_serve(**ORDERS, topic="orders")]),
        ],
    ),
    Case(
        "a consumer that hangs while nobody writes, and one that catches up",
        {
            MEMBERS: "3x200",
            serve("fairlead_group_lag_messages", **ORDERS, topic="orders"): "5x200",
            serve("fairlead_group_lag_seconds", **ORDERS, topic="orders"): "0+15x200",
            other(MEMBERS): "3x200",
            serve("fairlead_group_lag_messages", group="billing", topic="orders"): "9000-20x200",
            serve("fairlead_group_lag_seconds", group="billing", topic="orders"): "4000-10x200",
        },
        [
            Check("10m", "LagGrowing"),
            Check("10m15s", "LagGrowing", [of_serve(**ORDERS, topic="orders")]),
            Check("20m", "LagGrowing", [of_serve(**ORDERS, topic="orders")]),
        ],
    ),
)

FOLLOWING = (
    Case(
        "serve is behind on one topic",
        {
            serve("fairlead_view_lag_records", topic="fairlead.heartbeats"): "20000x60",
            serve("fairlead_view_lag_records", topic="fairlead.decisions"): "10x60",
        },
        [
            Check("4m45s", "ServeBehind"),
            Check("5m", "ServeBehind", [of_serve("20k", topic="fairlead.heartbeats")]),
        ],
    ),
    Case(
        "serve does not come to be ready, and one that took a minute",
        {
            serve("fairlead_view_ready"): "0x60",
            serve("fairlead_view_ready").replace("s:1", "s:2"): "0x4 1x60",
        },
        [Check("9m45s", "ServeNotReady"), Check("10m", "ServeNotReady", [of_serve()])],
    ),
    Case(
        "groups are folded, and were for a moment",
        {
            serve("fairlead_metrics_groups_folded"): "12x80",
            serve("fairlead_metrics_groups_folded").replace("s:1", "s:2"): "3x8 0x80",
        },
        [Check("14m45s", "GroupsFolded"), Check("15m", "GroupsFolded", [of_serve("12")])],
    ),
)

GROUP_CASES = (*SAFETY, *OWNERS, *LAG, *FOLLOWING)
