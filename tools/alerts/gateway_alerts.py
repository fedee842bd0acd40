"""Alerts about the gateway, from the metrics of `fairlead serve`."""

from typing import Final

from tools.alerts.alert import SERVE, Alert

GATEWAY_ALERTS: Final = (
    Alert(
        name="GatewayNotReady",
        job=SERVE,
        severity="page",
        expression="max without (instance) (fairlead_gateway_ready) == 0\n"
        "or max without (instance) (last_over_time(fairlead_gateway_ready[15m])) * 0\n"
        "unless max without (instance) (fairlead_gateway_ready)",
        hold="1m",
        when="for a minute no gateway is ready: none of those that run, or none runs any more",
        summary="No gateway answers clients",
        description="Clients of the gateway cannot poll, and stop their work when their leases end."
        " None runs, or it cannot reach the brokers, lacks a right, or still reads the log: its"
        " /readyz says which, and fairlead doctor --role gateway how to mend it.",
    ),
    Alert(
        name="GatewayAppendsFailing",
        job=SERVE,
        severity="page",
        expression="sum without (topic)"
        ' (round(increase(fairlead_gateway_appends_total{outcome="failed"}[5m]))) > 10',
        hold="1m",
        when="more than ten appends of one gateway failed within 5 minutes",
        summary="The gateway at {{ $labels.instance }} cannot write what its clients say",
        description="The brokers do not confirm heartbeats and releases, so leases of its clients"
        " end, and queues are not handed over. Look at the brokers and at the gateway's rights:"
        " fairlead doctor --role gateway.",
    ),
    Alert(
        name="GatewayBehind",
        job=SERVE,
        severity="ticket",
        expression="fairlead_gateway_lag_records > 5000",
        hold="1m",
        when="for a minute a gateway has had more than 5,000 records of a topic yet to read",
        summary="The gateway at {{ $labels.instance }} is {{ $value | humanize }} records of"
        " {{ $labels.topic }} behind",
        description="Its clients hear late what they shall start and stop. It has too little"
        " processor time, or too many clients for one gateway.",
    ),
    Alert(
        name="GatewaySessionsLost",
        job=SERVE,
        severity="ticket",
        expression="round(increase("
        'fairlead_gateway_sessions_lost_total{reason="lease_ended"}[15m])) > 10',
        hold="0s",
        when="more than ten clients of one gateway lost their lease within 15 minutes",
        summary="{{ $value | humanize }} clients of the gateway at {{ $labels.instance }} lost"
        " their lease",
        description="They stopped their work and joined again, so queues moved for nothing."
        " Clients pause for longer than a lease, their network is slow, or the gateway is.",
    ),
    Alert(
        name="GatewaySessionCopied",
        job=SERVE,
        severity="ticket",
        expression="sum without (reason) (round(increase(fairlead_gateway_sessions_lost_total"
        '{reason=~"session_elsewhere|state_replayed"}[15m]))) > 0',
        hold="0s",
        when="within 15 minutes a session was used at two places, or an old state came again",
        summary="A session of the gateway at {{ $labels.instance }} is used twice",
        description="Two processes send the state of one session, so one of them has a copy: a"
        " snapshot of a machine that was started again, or a program that forked. The log names"
        " group and client id (session_lost).",
    ),
    Alert(
        name="LoginsRefused",
        job=SERVE,
        severity="ticket",
        expression="sum without (reason) (round(increase(fairlead_access_refusals_total"
        '{reason=~"no_credentials|bad_credentials|too_many_failures|token_in_url"}[15m]))) > 50',
        hold="0s",
        when="fairlead serve refused more than 50 logins within 15 minutes",
        summary="{{ $value | humanize }} logins were refused at {{ $labels.instance }}",
        description="Somebody guesses tokens, or a client has one that has expired or was revoked,"
        " and tries again and again.",
    ),
)
