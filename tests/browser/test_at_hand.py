"""What people set and keep: pause, language, theme, addresses, and what they take away."""

from collections.abc import Callable

import orjson
from playwright.sync_api import expect

from tests.browser.places import arrived
from tests.browser.scene import QUEUES
from tests.browser.told_server import Told
from tests.browser.visit import Visit

Visiting = Callable[..., Visit]


def test_a_pause_freezes_the_page(visit: Visiting, told: Told) -> None:
    """While somebody pauses, a member that joins is not shown; then it is, and nothing is lost."""
    person, other = visit(), visit()
    for each in (person, other):
        each.open("groups", "job-0000")
        arrived(each)
    person.page.get_by_role("button", name="Pause").click()
    expect(person.page.locator("header")).to_contain_text("paused")
    told.change(lambda scene: scene.join("job-late", "job-0000", "few"))
    members = "table[aria-label=Members]"
    expect(other.page.locator(members)).to_contain_text("job-late")
    expect(person.page.locator(members)).not_to_contain_text("job-late")
    person.page.get_by_role("button", name="Pause").click()
    expect(person.page.locator(members)).to_contain_text("job-late")


def test_a_page_that_is_opened_in_a_pause_is_shown_once(visit: Visiting, told: Told) -> None:
    """Whoever goes on while paused sees how things stand there, and then nothing that is new."""
    person = visit()
    person.open("groups")
    arrived(person)
    person.page.get_by_role("button", name="Pause").click()
    person.page.get_by_role("link", name="job-0000", exact=True).first.click()
    members = person.page.locator("table[aria-label=Members]")
    expect(members).to_contain_text("job-0000-first")
    expect(person.page.locator("header")).to_contain_text("paused")
    other = visit()
    other.open("groups", "job-0000")
    told.change(lambda scene: scene.join("job-unseen", "job-0000", "few"))
    expect(other.page.locator("table[aria-label=Members]")).to_contain_text("job-unseen")
    expect(members).not_to_contain_text("job-unseen")


def test_a_group_tells_what_is_wrong_and_what_helps(visit: Visiting) -> None:
    """What is wrong stands first on the page of its group, in words, with the remedy."""
    person = visit()
    safety = person.page.request.get(f"{person.url}/api/v1/safety").json()
    wrong = next(each for each in safety["violations"] if each["group"] != "*")
    person.open("groups", wrong["group"])
    listed = person.page.locator(".problem-list")
    expect(listed).to_contain_text(wrong["remedy"])
    expect(listed).to_contain_text(wrong["says"].split(" ")[0])


def test_a_language_that_somebody_chose_stays(visit: Visiting) -> None:
    """The page changes at once, and is in that language when it is opened again."""
    person = visit()
    person.open("safety")
    expect(person.heading).to_have_text("Safety")
    person.page.get_by_role("button", name="Settings").click()
    person.page.get_by_label("Language").select_option("zh")
    expect(person.heading).not_to_have_text("Safety")
    expect(person.page.locator("html")).to_have_attribute("lang", "zh-CN")
    person.page.reload()
    expect(person.page.locator("html")).to_have_attribute("lang", "zh-CN")


def test_a_theme_that_somebody_chose_beats_the_system(visit: Visiting) -> None:
    """Who wants it dark has it dark, also where the system is light."""
    person = visit(color_scheme="light")
    person.open("groups")
    arrived(person)
    colour = "() => getComputedStyle(document.body).backgroundColor"
    light = person.page.evaluate(colour)
    person.page.get_by_role("button", name="Settings").click()
    person.page.get_by_label("Theme").select_option("dark")
    assert person.page.evaluate(colour) != light


def test_a_moment_has_an_address(visit: Visiting, told: Told) -> None:
    """An address with a moment shows who owned what then; the slider leads there, and back."""
    hour_ago = told.scene.topics.now_ms - 55 * 60_000
    person = visit()
    person.open("groups", "orders", query=f"?at={hour_ago}")
    members = person.page.get_by_role("table", name="Members")
    expect(members).to_contain_text("orders-c")
    expect(members).not_to_contain_text("orders-e")
    person.page.get_by_role("button", name="Back to live").first.click()
    expect(members).to_contain_text("orders-e")
    expect(members).not_to_contain_text("orders-c")
    assert "at=" not in person.page.url
    person.page.get_by_role("slider").press("ArrowLeft")
    person.page.get_by_role("slider").press("PageDown")
    expect(person.page.get_by_text("As of").first).to_be_visible()
    assert "at=" in person.page.url


def test_an_address_keeps_the_filter(visit: Visiting) -> None:
    """What somebody looks for stands in the address, so that they can send it on."""
    first, second = visit(), visit()
    first.open("groups", "orders")
    first.page.get_by_placeholder("Find queues or clients").fill("orders-e")
    expect(first.page).to_have_url(f"{first.url}/#/groups/orders?filter=orders-e")
    second.page.goto(first.page.url)
    queues = second.page.get_by_role("table", name="Queues", exact=True)
    expect(queues.locator("tbody tr").first).to_contain_text("orders-e")
    assert queues.locator("tbody tr").count() < QUEUES


def test_a_page_can_be_taken_away(visit: Visiting) -> None:
    """A page is to be had as JSON with the server's own keys, and as a command."""
    person = visit()
    person.open("groups", "orders")
    arrived(person)
    person.page.get_by_role("button", name="Export").click()
    with person.page.expect_download() as saved:
        person.page.get_by_role("menuitem", name="Save as JSON").click()
    document = orjson.loads(saved.value.path().read_bytes())
    assert (document["group"], len(document["queue_list"])) == ("orders", QUEUES)
