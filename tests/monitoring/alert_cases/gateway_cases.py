"""When the alerts about the gateway fire, and when they do not."""

from tests.monitoring.alert_cases.case import Case, Check, Firing, of_serve, serve

READY = serve("fairlead_gateway_ready")
OTHER = READY.replace("s:1", "s:2")


def _failed(topic: str) -> str:
    return serve("fairlead_gateway_appends_total", outcome="failed", topic=topic)


def _lost(reason: str) -> str:
    return serve("fairlead_gateway_sessions_lost_total", reason=reason)


def _refused(reason: str) -> str:
    return serve("fairlead_access_refusals_total", reason=reason)


def _behind(topic: str) -> str:
    return serve("fairlead_gateway_lag_records", topic=topic)


GATEWAY_CASES = (
    Case(
        "one of two gateways is not ready, and then neither",
        {READY: "1x3 0x40", OTHER: "1x11 0x40"},
        [
            Check("2m45s", "GatewayNotReady"),
            Check("3m45s", "GatewayNotReady"),
            Check("4m", "GatewayNotReady", [Firing({"job": "fairlead-serve"})]),
        ],
    ),
    Case(
        "the only gateway dies, and is given up",
        {READY: "1x10 stale"},
        [
            Check("2m45s", "GatewayNotReady"),
            Check("4m", "GatewayNotReady", [Firing({"job": "fairlead-serve"})]),
            Check("18m", "GatewayNotReady"),
        ],
    ),
    Case(
        "one of two gateways dies",
        {READY: "1x10 stale", OTHER: "1x40"},
        [Check(at, "GatewayNotReady") for at in ("4m", "8m")],
    ),
    Case(
        "a gateway that starts within a minute, and a serve without a gateway",
        {READY: "0x3 1x40", serve("up").replace("s:1", "s:2"): "1x40"},
        [Check(at, "GatewayNotReady") for at in ("45s", "1m", "5m")],
    ),
    Case(
        "the brokers do not confirm: heartbeats and releases fail",
        {_failed("heartbeats"): "0x4 0+2x40", _failed("releases"): "0x4 0+1x40"},
        [
            Check("2m", "GatewayAppendsFailing"),
            Check("6m", "GatewayAppendsFailing", [of_serve(outcome="failed")]),
        ],
    ),
    Case(
        "a hiccup of a broker",
        {_failed("heartbeats"): "0x4 8x40", _failed("releases"): "0x44"},
        [Check(at, "GatewayAppendsFailing") for at in ("2m", "3m", "6m")],
    ),
    Case(
        "a gateway falls behind, another catches up in time",
        {
            _behind("heartbeats"): "0x4 6000x40",
            _behind("heartbeats").replace("s:1", "s:2"): "0x4 9000x3 0x40",
        },
        [
            Check("2m", "GatewayBehind"),
            Check("2m30s", "GatewayBehind", [of_serve("6k", topic="heartbeats")]),
        ],
    ),
    Case(
        "a few clients die, as clients do; then many at once",
        {_lost("lease_ended"): "0x4 3x40 3+4x5 23x200", _lost("left"): "0+9x200"},
        [
            Check("5m", "GatewaySessionsLost"),
            Check("13m", "GatewaySessionsLost", [of_serve("23", reason="lease_ended")]),
            Check("45m", "GatewaySessionsLost"),
        ],
    ),
    Case(
        "a copied state is used at another place",
        {_lost("session_elsewhere"): "0x20 1x200", _lost("state_replayed"): "0x220"},
        [
            Check("4m45s", "GatewaySessionCopied"),
            Check("6m", "GatewaySessionCopied", [of_serve()]),
            Check("25m", "GatewaySessionCopied"),
        ],
    ),
    Case(
        "a client with an old token tries again; others lack a right, which is no login",
        {_refused("bad_credentials"): "0+2x300", _refused("missing_right"): "0+9x300"},
        [
            Check("5m", "LoginsRefused"),
            Check("20m", "LoginsRefused", [of_serve("120")]),
        ],
    ),
    Case(
        "a person mistypes",
        {_refused("bad_credentials"): "0x4 3x100", _refused("no_credentials"): "0x9 12x100"},
        [Check(at, "LoginsRefused") for at in ("3m", "10m", "20m")],
    ),
)
