"""When the alerts about a bridge fire, and when they do not."""

from tests.monitoring.alert_cases.case import Case, Check, bridge, of_bridge

UP = bridge("up")
LOOK = bridge("fairlead_bridge_last_look_timestamp_seconds")

BRIDGE_CASES = (
    Case(
        "the bridge is killed: BridgeDown, and not BridgeStalled, as there is nothing to read",
        {UP: "1x7 0x40", LOOK: "0+15x7 stale"},
        [
            Check("3m45s", "BridgeDown"),
            Check("4m", "BridgeDown", [of_bridge()]),
            Check("8m", "BridgeStalled"),
        ],
    ),
    Case(
        "a bridge that is well",
        {UP: "1x100", LOOK: "0+15x100"},
        [Check("20m", "BridgeDown"), Check("20m", "BridgeStalled")],
    ),
    Case(
        "the data cluster goes away after ten minutes",
        {UP: "1x100", LOOK: "0+15x40 600x60"},
        [Check("11m", "BridgeStalled"), Check("13m", "BridgeStalled", [of_bridge()])],
    ),
    Case(
        "the data cluster never answers",
        {UP: "1x100", LOOK: "0x100"},
        [Check("1m30s", "BridgeStalled"), Check("4m", "BridgeStalled", [of_bridge()])],
    ),
)
