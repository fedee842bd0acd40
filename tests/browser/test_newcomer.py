"""Somebody who has never seen the program finds what they came for, without help or mouse."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.hands import Hands
from tests.browser.told_server import Told
from tests.browser.visit import Visit


def test_four_questions_are_answered_by_keyboard_alone(
    visit: Callable[..., Visit], told: Told
) -> None:
    """Who owns a queue, why it moved, what two more clients would move, and whether all is safe."""
    owner = told.scene.world.owners("orders")[3]
    person = visit()
    page, hands = person.page, Hands(person.page)
    page.goto(person.url)
    expect(person.heading).to_have_text("Groups")
    hands.write(page.get_by_label("Name contains"), "orders")
    groups = page.get_by_role("table", name="Groups")
    expect(groups.locator("tbody tr")).to_have_count(1)
    hands.press(groups.get_by_role("link", name="orders"))
    expect(person.heading).to_have_text("orders")
    # Who owns queue 3?
    hands.write(page.get_by_placeholder("Find queues or clients"), "orders/main/3")
    queues = page.get_by_role("table", name="Queues", exact=True)
    expect(queues.locator("tbody tr")).to_have_count(1)
    expect(queues).to_contain_text(owner)
    # Why did it move?
    hands.press(queues.get_by_role("link", name="orders/main/3"))
    expect(person.heading).to_contain_text("orders/main/3")
    newest = page.locator(".owners > li").first
    expect(newest).to_contain_text(owner)
    expect(newest).to_contain_text("because")
    hands.press(newest.get_by_role("link", name="decision"))
    expect(page).to_have_title(re.compile("Decision"))
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    # What would move if two clients joined?
    hands.press(page.get_by_role("link", name="orders", exact=True).first)
    expect(person.heading).to_have_text("orders")
    hands.press(page.get_by_role("link", name="What if …"))
    hands.press(page.get_by_role("button", name="Two clients join"))
    expect(page.get_by_role("status").filter(has_text="queues would move")).to_be_visible()
    # Is all safe?
    hands.press(page.get_by_role("link", name="Safety"))
    expect(person.heading).to_have_text("Safety")
    # In the scene no queue has two owners, and one group has messages but no members.
    answer = page.get_by_role("status").filter(has_text="No queue has two owners")
    expect(answer).to_contain_text("one thing is wrong")
    expect(page.get_by_role("main").get_by_role("link", name="old")).to_be_visible()
