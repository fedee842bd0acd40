"""Alerts about bridges, from their own metrics."""

from typing import Final

from tools.alerts.alert import BRIDGE, Alert

BRIDGE_ALERTS: Final = (
    Alert(
        name="BridgeDown",
        job=BRIDGE,
        severity="page",
        # Not absent(): where routes are put by hand there is no bridge.
        expression='up{job="fairlead-bridge"} == 0',
        hold="2m",
        when="the /metrics of a bridge does not answer",
        summary="The bridge at {{ $labels.instance }} is down",
        description="Owners go on. A group that begins or subscribes to more gets no queue, and"
        " no new partition is shared, until a bridge answers. See how it ended: its exit code and"
        " the end of its log; --supervise starts it again.",
    ),
    Alert(
        name="BridgeStalled",
        job=BRIDGE,
        severity="page",
        # 0 before the first look: an age of that would be the time since 1970.
        expression="time() - (fairlead_bridge_last_look_timestamp_seconds > 0) > seconds(60s)\n"
        "or max_over_time(fairlead_bridge_last_look_timestamp_seconds[2m]) == 0\n"
        "  and fairlead_bridge_last_look_timestamp_seconds offset 2m",
        hold="1m",
        when="a bridge answers, and its data cluster has not told the topics for 60 seconds, or"
        " never in 2 minutes since its start",
        summary="The bridge at {{ $labels.instance }} runs and sees no topics",
        description="The cluster with the messages does not answer it, so routes stay as they are"
        " and requests wait. Its /readyz and its log say which look-up fails.",
    ),
)
