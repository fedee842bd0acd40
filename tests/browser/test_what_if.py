"""The page of what would be: no plan stands under another question, and no word is too good."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Route, expect

from tests.browser.visit import Visit

Visiting = Callable[..., Visit]
_OUTCOME: Final = """async (done) => {
  const part = await import(new URL("console/js/whatif/apply.js", document.baseURI));
  return part.outcomeOf(done).kind;
}"""
RULE: Final = {"answer": "in_force"}


def test_no_plan_stands_under_another_question(visit: Visiting) -> None:
    """While a new plan is worked out the old one is not shown, and nothing can be applied."""
    person = visit()
    person.open("groups", "orders", "what-if")
    page = person.page
    page.get_by_role("button", name="Two clients join").click()
    expect(page.get_by_text("queues would move")).to_be_visible()
    page.get_by_label("Now STICKY").select_option("AVG")
    apply = page.get_by_role("button", name="Apply 1 rule")
    expect(apply).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/plan", hold)
    with page.expect_request("**/plan"):
        page.get_by_role("button", name="One client joins").click()
    expect(page.get_by_text("queues would move")).to_have_count(0)
    expect(apply).to_have_count(0)
    held[0].continue_()
    expect(apply).to_be_visible()


def test_who_asks_too_much_asks_again(visit: Visiting) -> None:
    """A plan that was refused for many others is asked for again by itself."""
    person = visit()
    person.expect_failures("429")
    refused: list[str] = []

    def busy_once(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route.request.url)
        route.fulfill(status=429, json={"title": "Too Many Requests", "status": 429})

    person.page.route("**/plan", busy_once)
    person.open("groups", "orders", "what-if")
    person.page.get_by_role("button", name="Two clients join").click()
    expect(person.page.get_by_text("queues would move")).to_be_visible()
    assert len(refused) == 1


@pytest.mark.parametrize(
    "done, kind",
    [
        ({"as_planned": True, "outcomes": [RULE]}, "ok"),
        ({"already_applied": True}, "ok"),
        ({"as_planned": False, "dry_run": True}, "info"),
        ({"as_planned": True, "outcomes": [RULE, {"answer": "unanswered"}]}, "warn"),
        ({"as_planned": True, "outcomes": [{"answer": "refused"}]}, "bad"),
        ({"as_planned": False, "came_between": True, "outcomes": [RULE]}, "warn"),
        ({"as_planned": False, "outcomes": [RULE]}, "warn"),
    ],
)
def test_only_what_went_as_planned_is_called_good(
    visit: Visiting, done: dict[str, Any], kind: str
) -> None:
    """Rules without an answer, a decision in between and other moves are no success."""
    person = visit()
    person.open("groups")
    assert person.page.evaluate(_OUTCOME, done) == kind
