"""Who may see and do what in the console, and where it stands."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from fairlead.access.tokens import new_token
from tests.access.access_files import principal_text
from tests.browser.places import PLACES, arrived, place_of
from tests.browser.stripping_proxy import under_a_path
from tests.browser.told_server import Told
from tests.browser.visit import Visit

Visiting = Callable[..., Visit]
OBSERVER, OPERATOR = (new_token(datetime.now(UTC), None) for _ in range(2))

_FORGED = """async () => {
  const headers = { "content-type": "application/json" };
  const asked = { method: "POST", headers, body: '{"because": "forged"}' };
  const answer = await fetch("api/v1/groups/orders/apply", asked);
  return { status: answer.status, type: (await answer.json()).type };
}"""


@pytest.fixture
def closed(told: Told, tmp_path: Path) -> Iterator[str]:
    """A console that asks who one is."""
    path = tmp_path / "access.toml"
    path.write_text(
        principal_text("watcher", 'observe = ["orders"]', token=OBSERVER[1])
        + principal_text("ops", 'observe = ["*"]', 'operate = ["orders"]', token=OPERATOR[1])
    )
    with told.serving(access__file=str(path)) as url:
        yield url


def _log_in(person: Visit, token: str) -> None:
    expect(person.open("groups")).to_have_text("Log in")
    person.page.get_by_label("Token").fill(token)
    person.page.get_by_role("button", name="Log in").click()
    expect(person.heading).to_have_text("Groups")


def test_whoever_is_nobody_is_asked_for_a_token(visit: Visiting, closed: str) -> None:
    """A wrong token is refused with a remedy; a right one leads to the page that was asked for."""
    person = visit(closed)
    person.expect_failures("401")
    expect(person.open("groups", "orders")).to_have_text("Log in")
    person.page.get_by_label("Token").fill("flt_wrong")
    person.page.keyboard.press("Enter")
    expect(person.page.get_by_role("alert")).to_be_visible()
    person.page.get_by_label("Token").fill(OBSERVER[0])
    person.page.keyboard.press("Enter")
    expect(person.heading).to_have_text("orders")
    (cookie,) = person.page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert person.page.evaluate("() => [document.cookie, localStorage.length]")[0] == ""
    person.open("groups")
    table = person.page.get_by_role("table", name="Groups")
    expect(table.get_by_role("link", name="orders", exact=True)).to_be_visible()
    expect(table).to_have_attribute("aria-rowcount", "2")


def test_whoever_may_only_look_reads_the_plan_and_the_command(visit: Visiting, closed: str) -> None:
    """Without the right to operate the page plans, and offers no button that changes something."""
    person = visit(closed)
    person.expect_failures("401")
    _log_in(person, OBSERVER[0])
    person.open("groups", "orders", "what-if")
    person.page.get_by_label("Now STICKY").select_option("AVG")
    expect(person.page.get_by_text("read only")).to_be_visible()
    expect(person.page.get_by_role("region", name="The same as a command:")).to_contain_text(
        "fairlead plan orders"
    )
    expect(person.page.get_by_role("button", name="Apply")).to_have_count(0)


def test_whoever_may_operate_has_to_say_why(visit: Visiting, closed: str) -> None:
    """With the right there is a button, which waits for a reason; elsewhere there is none."""
    person = visit(closed)
    person.expect_failures("401")
    _log_in(person, OPERATOR[0])
    person.open("groups", "orders", "what-if")
    person.page.get_by_label("Now STICKY").select_option("AVG")
    apply = person.page.get_by_role("button", name="Apply 1 rule")
    expect(apply).to_be_disabled()
    person.page.get_by_label("Reason").fill("trying the old way")
    expect(apply).to_be_enabled()
    person.open("groups", "wide", "what-if")
    person.page.get_by_label("Now STICKY").select_option("AVG")
    expect(person.page.get_by_text("read only")).to_be_visible()


def test_a_cookie_alone_changes_nothing(visit: Visiting, closed: str) -> None:
    """A request that brings the cookie, as any page could send it, lacks the page's own header."""
    person = visit(closed)
    person.expect_failures("401", "403")
    _log_in(person, OPERATOR[0])
    answer = person.page.evaluate(_FORGED)
    assert answer == {"status": 403, "type": "urn:fairlead:csrf_missing"}


def test_below_a_path_of_a_proxy_all_is_the_same(visit: Visiting, console: str, told: Told) -> None:
    """Behind a proxy that strips a prefix, every place is shown and nothing beside it is asked."""
    with under_a_path(console, "/console/of/orders/") as url:
        person = visit(url)
        for place in PLACES:
            person.open(*place_of(place, told))
            arrived(person)
        assert person.requests
        assert [each for each in person.requests if not each.startswith(url)] == []
        expect(person.page.get_by_role("status").first).not_to_have_text("")
