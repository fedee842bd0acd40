"""A live system in the browser: a kill, a restart of serve, and the moment before."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.live_console import GROUP, LiveConsole
from tests.browser.places import arrived
from tests.browser.visit import Visit

pytestmark = pytest.mark.timeout(300)

Visiting = Callable[..., Visit]
LONG_MS: Final = 60_000.0
"""How long a death, or a serve that starts, may take to be seen."""


def _spans(person: Visit) -> Locator:
    """Open the ribbon's table, and return its rows."""
    person.page.get_by_text("The ribbon as a table").click()
    return person.page.get_by_role("table", name="The ribbon as a table").locator("tbody tr")


def _connection(person: Visit) -> Locator:
    return person.page.locator("header").get_by_role("status")


def _own_rules(live: LiveConsole) -> list[dict[str, Any]]:
    """Return the rules of the group itself, without those of all groups."""
    rules = live.served.wait(f"/api/v1/groups/{GROUP}", 200)["rules"]
    return [each for each in rules if each["group"] == GROUP]


def test_a_kill_shows_a_gap_and_then_the_new_owner(live: LiveConsole, visit: Visiting) -> None:
    """Of a killed consumer's queue the page shows the end, the gap and the new owner, by itself."""
    queue = min(number for number, owner in live.owners().items() if owner == "consumer-b")
    person = visit(live.url)
    person.open("groups", GROUP)
    arrived(person)
    rows = _spans(person).filter(has_text=f"{live.system.topic}/main/{queue}")
    owner = (
        person.page.get_by_role("table", name="Queues")
        .locator("tr")
        .filter(has_text=f"{live.system.topic}/main/{queue}")
    )
    expect(owner).to_contain_text("consumer-b")
    documents = [each for each in person.requests if each.endswith("/")]
    live.kill("consumer-b")
    expect(rows).to_have_count(2, timeout=LONG_MS)
    expect(owner).not_to_contain_text("consumer-b")
    old, new = rows.nth(0), rows.nth(1)
    expect(old).to_contain_text("consumer-b")
    expect(old.locator("[data-col=until]")).not_to_have_text("now")
    expect(new.locator("[data-col=until]")).to_have_text("now")
    expect(new.locator("[data-col=handover]")).to_contain_text("s")
    expect(person.page.get_by_role("log", name="Rebalances")).to_contain_text("consumer-b")
    assert [each for each in person.requests if each.endswith("/")] == documents


@pytest.mark.slow
def test_a_restart_of_serve_loses_no_decision(live: LiveConsole, visit: Visiting) -> None:
    """While serve is gone the page says so; then it shows what was decided meanwhile."""
    person = visit(live.url)
    person.expect_failures("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_EMPTY", "503")
    person.open("groups", GROUP)
    arrived(person)
    expect(_connection(person)).to_have_text("live")
    live.stop_serve()
    expect(_connection(person)).to_contain_text("reconnecting", timeout=LONG_MS)
    live.start("consumer-d")
    live.start_serve()
    live.await_owned("consumer-d")
    expect(_connection(person)).to_have_text("live", timeout=LONG_MS)
    told = live.served.wait(f"/api/v1/groups/{GROUP}/decisions", 200)["decisions"]
    person.page.get_by_label("also those that moved nothing").check()
    log = person.page.get_by_role("log", name="Rebalances")
    for each in told[-10:]:
        link = log.locator(f"a[href='#/groups/{GROUP}/decisions/{each['at'][2]}']")
        expect(link).to_have_count(1)


@pytest.mark.slow
def test_a_rule_is_written_with_a_reason_and_on_the_group_as_planned(
    live: LiveConsole, visit: Visiting
) -> None:
    """A check writes nothing; applying writes the rule with who and why, and the page says so."""
    person = visit(live.url)
    person.open("groups", GROUP, "what-if")
    person.page.get_by_label("Now STICKY").select_option("AVG")
    person.page.get_by_label("Reason").fill("blocks are easier to read")
    person.page.get_by_role("button", name="Check only").click()
    expect(person.page.get_by_text("checked; nothing was written")).to_be_visible(timeout=LONG_MS)
    assert _own_rules(live) == []
    person.page.get_by_role("button", name="Apply 1 rule").click()
    expect(person.page.get_by_text("applied", exact=True)).to_be_visible(timeout=LONG_MS)
    (rule,) = _own_rules(live)
    assert (rule["rule"], rule["because"]) == ("strategy", "blocks are easier to read")
