"""Alerts about groups, from ``fairlead serve``, which sees them whether the engine runs or not."""

from typing import Final

from fairlead.observed.counters import OTHER
from fairlead.observed.group_metrics import HELD_PHASES
from tools.alerts.alert import SERVE, Alert, Growth

SAME_GROUP: Final = "on (job, instance, group)"
WITH_MEMBERS: Final = f"and {SAME_GROUP} fairlead_group_members > 0"
_HELD: Final = f'group!="{OTHER}",phase=~"{"|".join(HELD_PHASES)}"'
NOT_TOLD_ELSEWHERE: Final = f"unless {SAME_GROUP} fairlead_group_phase{{{_HELD}}} == 1"
"""A group that waits, or that is kept apart, is not at rest either; other alerts say so.

The groups counted together are judged by their numbers, which leave out those that are held.
"""

REBALANCING: Final = (
    "client_.+|subscription_changed|route_changed|rules_changed|pins_changed|weights_changed"
)
"""Triggers from outside; the others are what follows from them, or from the engine's own life."""

OVERLAPS: Final = Growth("fairlead_overlap_violations_total", "5m", SERVE)
REBALANCES: Final = Growth(
    "fairlead_rebalances_total", "15m", SERVE, f'trigger=~"{REBALANCING}"', over=("trigger",)
)
TIMEOUTS: Final = Growth("fairlead_handover_timeouts_total", "15m", SERVE)
EXPIRATIONS: Final = Growth("fairlead_client_expirations_total", "15m", SERVE)
CONFLICTS: Final = Growth("fairlead_client_id_conflicts_total", "15m", SERVE)
MOVES: Final = Growth("fairlead_queue_moves_total", "1h", SERVE, over=("trigger",))
LEAST_MOVES: Final = Growth("fairlead_queue_moves_minimum_total", "1h", SERVE, over=("trigger",))

GROUP_GROWTHS: Final = (
    OVERLAPS, REBALANCES, TIMEOUTS, EXPIRATIONS, CONFLICTS, MOVES, LEAST_MOVES,
)  # fmt: skip

PAGES: Final = (
    Alert(
        name="OverlapDetected",
        job=SERVE,
        severity="page",
        expression=f"{OVERLAPS.name} > 0",
        hold="0s",
        when="a queue had two live owners although the group's mode forbids it",
        summary="Group {{ $labels.group }}: a queue had two owners at once",
        description="Messages may have been processed twice or out of order. This must never be:"
        " keep the evidence with fairlead record before anything else.",
    ),
    Alert(
        name="ForeignMember",
        job=SERVE,
        severity="page",
        expression='fairlead_group_alarm{alarm="foreign_member"} >= 1',
        hold="1m",
        when="for a minute somebody without Fairlead is in a group of RocketMQ that the engine has",
        summary="Group {{ $labels.group }}: somebody without Fairlead reads its queues too",
        description="RocketMQ's own strategy gives that process queues that members have: messages"
        " are processed twice. fairlead group check {{ $labels.group }} says what helps.",
    ),
    Alert(
        name="QueuesUnassigned",
        job=SERVE,
        severity="page",
        expression=f"fairlead_group_queues_unassigned > 0\n{WITH_MEMBERS}\n{NOT_TOLD_ELSEWHERE}",
        hold="2m",
        when="queues have nobody although the group has members, is not paused and waits for"
        " nothing",
        summary="Group {{ $labels.group }}: {{ $value | humanize }} queues of"
        " {{ $labels.topic }} have nobody",
        description="Nobody reads them, so their messages wait. fairlead group check"
        " {{ $labels.group }} says which and why.",
    ),
    Alert(
        name="NotConverged",
        job=SERVE,
        severity="page",
        expression=f"fairlead_group_converged == 0\n{WITH_MEMBERS}\n{NOT_TOLD_ELSEWHERE}",
        hold="5m",
        when="a group's handovers have not come to their end for 5 minutes",
        summary="Group {{ $labels.group }}: a rebalance does not come to its end",
        description="A client has not given up what it has to, or has not taken what it was"
        " given; what it holds up has nobody. fairlead group check {{ $labels.group }} names it.",
    ),
    Alert(
        name="GroupQuarantined",
        job=SERVE,
        severity="page",
        expression='fairlead_group_phase{phase="quarantined"} >= 1',
        hold="2m",
        when="the engine has failed at a group, and keeps it apart from the others",
        summary="Group {{ $labels.group }} is in quarantine: nothing of it moves",
        description="The group's step fails, so it keeps the owners it has; clients that die are"
        " not replaced. The engine tries again at each trigger. Its log has the traceback.",
    ),
    Alert(
        name="ServeDown",
        job=SERVE,
        severity="page",
        expression='max without (instance) (up{job="fairlead-serve"}) == 0\n'
        'or absent(up{job="fairlead-serve"})',
        hold="5m",
        when="no /metrics of a fairlead serve answers, or none is scraped at all",
        summary="fairlead serve is down: nothing is known of groups",
        description="Groups go on as they are. But while it is down no alert about a group can"
        " fire. Start it again: it reads what it missed.",
    ),
)

HANDOVER_TICKETS: Final = (
    Alert(
        name="RebalanceStorm",
        job=SERVE,
        severity="ticket",
        expression=f"{REBALANCES.name} > 10",
        # Longer than the window: a deployment within a few minutes is no storm.
        hold="20m",
        when="more than ten rebalances within 15 minutes, and so for 20 minutes",
        summary="Group {{ $labels.group }}: {{ $value | humanize }} rebalances within 15 minutes",
        description="Members come and go, or somebody changes routes or rules all the time; every"
        " queue that moves stands still for a moment. fairlead moves {{ $labels.group }} says"
        " what sets it off.",
    ),
    Alert(
        name="HandoverTimeouts",
        job=SERVE,
        severity="ticket",
        expression=f"{TIMEOUTS.name} > 0",
        hold="0s",
        when="a holder fell silent, or did not let go in time, before it released a queue",
        summary="Group {{ $labels.group }}: {{ $value | humanize }} handovers timed out",
        description="The successor starts from the last position that the holder had told, so the"
        " last messages may be processed twice. Look for clients that hang in their handlers.",
    ),
    Alert(
        name="MembersIdle",
        job=SERVE,
        severity="ticket",
        expression="fairlead_group_members_idle > 0\n"
        f'unless {SAME_GROUP} fairlead_group_info{{message_model="broadcasting"}}\n'
        f"{NOT_TOLD_ELSEWHERE}",
        hold="30m",
        when="members that could own a queue have had none for 30 minutes",
        summary="Group {{ $labels.group }}: {{ $value | humanize }} members have nothing to do",
        description="There are more members than queues, or the strategy has none for them."
        " fairlead group describe {{ $labels.group }} --members shows who has what.",
    ),
    Alert(
        name="StickinessPoor",
        job=SERVE,
        severity="ticket",
        expression=f"{MOVES.name} > 20\n"
        f"and {MOVES.name}\n  > 2 * ({LEAST_MOVES.name} or 0 * {MOVES.name})",
        hold="15m",
        when="within an hour more than 20 queues moved, more than twice as many as were needed",
        summary="Group {{ $labels.group }}: {{ $value | humanize }} queues moved in an hour, over"
        " twice the least possible",
        description="The strategies of RocketMQ give queues away by position in a list, so a join"
        " moves most of them. STICKY moves the fewest: see fairlead plan {{ $labels.group }}"
        " --strategy STICKY.",
    ),
)

MEMBER_TICKETS: Final = (
    Alert(
        name="ClientsExpiring",
        job=SERVE,
        severity="ticket",
        expression=f"{EXPIRATIONS.name} > 3",
        hold="0s",
        when="more than three clients fell silent without leaving within 15 minutes",
        summary="Group {{ $labels.group }}: {{ $value | humanize }} clients fell silent",
        description="They were killed, hang, or cannot reach the brokers; their queues had nobody"
        " until their leases ended. fairlead moves {{ $labels.group }} names them.",
    ),
    Alert(
        name="ClientIdConflict",
        job=SERVE,
        severity="ticket",
        expression=f"{CONFLICTS.name} > 0",
        hold="0s",
        when="two live processes used one client id",
        summary="Group {{ $labels.group }}: two processes use one client id",
        description="One of them has to stop and does nothing; under a supervisor it comes"
        " back for ever. Give each process an id of its own.",
    ),
    Alert(
        name="SubscriptionMismatch",
        job=SERVE,
        severity="ticket",
        expression="fairlead_subscription_mismatch == 1",
        hold="10m",
        when="members of a group subscribe to different things for 10 minutes",
        summary="Group {{ $labels.group }}: its members subscribe to different things",
        description="Which messages are read depends on who has the queue: some may be skipped."
        " fairlead group check {{ $labels.group }} names who differs.",
    ),
    Alert(
        name="GroupWaits",
        job=SERVE,
        severity="ticket",
        expression='fairlead_group_phase{phase=~"waiting_for_route|waiting_for_offsets"} >= 1\n'
        f"{WITH_MEMBERS}",
        hold="5m",
        when="a group with members waits for the route of a topic, or for offsets, for 5 minutes",
        summary="Group {{ $labels.group }} is {{ $labels.phase }}: the bridge has not answered",
        description="Its members have nothing to read yet. Either no bridge runs, or the topic does"
        " not exist where the bridge looks: fairlead route show says what is known.",
    ),
    Alert(
        name="GroupAlarm",
        job=SERVE,
        severity="ticket",
        expression="fairlead_group_alarm"
        '{alarm!~"clock_jump|duplicate_client_id|foreign_member'
        '|subscription_disagreement|mute_member"} >= 1',
        hold="10m",
        when="a decision's alarm, other than those with an alert of their own, stands 10 minutes",
        summary="Group {{ $labels.group }}: {{ $labels.alarm }}",
        description="The engine does what it can and tells that something is not as it was meant."
        " fairlead group check {{ $labels.group }} says more.",
    ),
)

LAG_TICKETS: Final = (
    Alert(
        name="GroupOfflineWithLag",
        job=SERVE,
        severity="ticket",
        expression="sum without (topic) (fairlead_group_lag_messages) > 0\n"
        f"and {SAME_GROUP} fairlead_group_members == 0",
        hold="10m",
        when="a group has had messages to read and no member for 10 minutes",
        summary="Group {{ $labels.group }}: nobody is there, {{ $value | humanize }} messages wait",
        description="All its clients are gone. If the group is no longer needed nothing is wrong;"
        " else start them before the messages are deleted by their retention.",
    ),
    Alert(
        name="LagGrowing",
        job=SERVE,
        severity="ticket",
        # The second is a consumer that hangs while nothing more is written.
        expression="(deriv(fairlead_group_lag_messages[15m]) > 0"
        " or deriv(fairlead_group_lag_seconds[15m]) > 0)\n"
        "and on (job, instance, group, topic) fairlead_group_lag_seconds > seconds(5m)\n"
        f"{WITH_MEMBERS}",
        hold="5m",
        when="a group with members is more than 5 minutes behind, and falls back further, in"
        " messages or in time",
        summary="Group {{ $labels.group }} falls behind on {{ $labels.topic }}",
        description="Its members read less than is written, or nothing. fairlead group describe"
        " {{ $labels.group }} --queues shows whether all queues are behind or one client's.",
    ),
)

SERVE_TICKETS: Final = (
    Alert(
        name="ServeInstanceDown",
        job=SERVE,
        severity="ticket",
        expression='up{job="fairlead-serve"} == 0\n'
        'and ignoring (instance) max without (instance) (up{job="fairlead-serve"}) == 1',
        hold="15m",
        when="of several fairlead serve one does not answer, and another does",
        summary="fairlead serve at {{ $labels.instance }} is down; another one answers",
        description="Nothing is missed: each of them tells of all groups. When the other one goes"
        " too, nobody sees groups any more.",
    ),
    Alert(
        name="ServeBehind",
        job=SERVE,
        severity="ticket",
        expression="fairlead_view_lag_records > 10000",
        hold="5m",
        when="fairlead serve has more than 10,000 records of a topic yet to read",
        summary="fairlead serve is {{ $value | humanize }} records of {{ $labels.topic }} behind",
        description="What it shows of groups is old, and so are the alerts about them.",
    ),
    Alert(
        name="ServeNotReady",
        job=SERVE,
        severity="ticket",
        expression="fairlead_view_ready == 0",
        hold="10m",
        when="fairlead serve runs and has not read what stands in the topics for 10 minutes",
        summary="fairlead serve is not ready",
        description="It cannot reach the brokers or may not read the topics; it tries again. Its"
        " /readyz says which, and fairlead doctor how to mend it.",
    ),
    Alert(
        name="GroupsFolded",
        job=SERVE,
        severity="ticket",
        expression="fairlead_metrics_groups_folded > 0",
        hold="15m",
        when="there are more groups than serve.max_groups, so some have no series of their own",
        summary='{{ $value | humanize }} groups are folded into group="__other__"',
        description="Alerts about them name no group. Raise serve.max_groups if your Prometheus"
        " can take the series, or remove groups that nobody uses.",
    ),
)

GROUP_ALERTS: Final = (
    *PAGES, *HANDOVER_TICKETS, *MEMBER_TICKETS, *LAG_TICKETS, *SERVE_TICKETS,
)  # fmt: skip
