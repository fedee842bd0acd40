"""A flood of requests holds nobody up: all of it is read before the newest is answered first."""

from fairlead.core.outputs import Request
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import make_bridge, offsets_request

FORGED = 6_000
"""More than a bridge reads at once, each with a look-up of its own."""
TURN_MAX = 1_000
"""More than it answers in the turn that was under way: some milliseconds each, half a second."""
TIME_MS = 1_781_000_000_000


def test_who_asks_behind_a_flood(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """A request behind thousands of forged ones is answered before most of them."""
    asked_for, wanted = f"{topic}-flooded", topic
    for name in (asked_for, wanted):
        ledger.make_topic(name, 1)
    with running(make_bridge(ledger, bootstrap)):
        ledger.flood(
            offsets_request(asked_for, 0, group=f"invented-{number}", timestamp_ms=TIME_MS + number)
            for number in range(FORGED)
        )
        ledger.ask(Request("honest", "route", wanted, None, None))
        ledger.await_route(wanted, 1)
        ledger.ask(offsets_request(wanted, 0, group="honest"))
        ledger.await_that(lambda: any(known.group == "honest" for known in ledger.offsets))
    before = [known.group for known in ledger.offsets].index("honest")
    assert before < TURN_MAX
