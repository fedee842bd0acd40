"""When the alerts on what takes hours fire; evaluated every five minutes, so that it is quick."""

from tests.monitoring.alert_cases.case import Case, Check, engine, of_engine, of_serve, serve
from tests.monitoring.alert_cases.group_cases import ORDERS, other

SCRAPED = engine("up")
FOLLOWED = serve("up")
STATE = engine("fairlead_state_bytes", operator="applyInPandasWithState")


def _moves(trigger: str) -> str:
    return serve("fairlead_queue_moves_total", **ORDERS, trigger=trigger)


def _least(trigger: str) -> str:
    return serve("fairlead_queue_moves_minimum_total", **ORDERS, trigger=trigger)


SLOW_CASES = (
    Case(
        "a state that grows by a megabyte a minute, and one that is as large and stays",
        {
            SCRAPED: "1x600",
            STATE: "100e6+1e6x600",
            SCRAPED.replace("e:1", "e:2"): "1x600",
            STATE.replace("e:1", "e:2"): "300e6x600",
        },
        [
            Check("6h30m", "StateGrowing"),
            Check("8h", "StateGrowing", [of_engine("1.881Gi")]),
        ],
        interval="1m",
    ),
    Case(
        "a state that grows in the first hour after a start, as every one does",
        {SCRAPED: "1x600", STATE: "0+2e6x60 120e6x500"},
        [Check(at, "StateGrowing") for at in ("2h", "5h", "9h")],
        interval="1m",
    ),
    Case(
        "thirty moves where ten would do, by two triggers; where thirty were needed; only a few",
        {
            FOLLOWED: "1x400",
            _moves("client_joined"): "_x100 20x300",
            _moves("client_left"): "_x100 10x300",
            _least("client_joined"): "_x100 10x300",
            other(_moves("client_joined")): "_x100 30x300",
            other(_least("client_joined")): "_x100 30x300",
            _moves("client_left").replace("orders", "news"): "_x100 12x300",
            _least("client_left").replace("orders", "news"): "_x100 2x300",
        },
        [
            Check("1h50m", "StickinessPoor"),
            Check("1h55m", "StickinessPoor", [of_serve("30", **ORDERS)]),
            Check("2h45m", "StickinessPoor"),
        ],
        interval="1m",
    ),
    Case(
        "moves where none was needed: their least number is left out, as it is 0",
        {FOLLOWED: "1x400", _moves("rules_changed"): "_x100 24x300"},
        [Check("1h55m", "StickinessPoor", [of_serve("24", **ORDERS)])],
        interval="1m",
    ),
)
