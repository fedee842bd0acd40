"""The pages of native groups: what one look saw, read only."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.visit import Visit

Visiting = Callable[..., Visit]


def test_the_list_leads_to_each_group(visit: Visiting) -> None:
    """Groups of both data planes, those with a problem first; what could not be seen is said."""
    person = visit()
    person.open("native")
    table = person.page.get_by_role("table", name="Native")
    expect(table.get_by_role("link")).to_have_count(5)
    expect(table.get_by_role("row").nth(1)).to_contain_text("bills")
    expect(person.page.get_by_text("Kafka does not answer.")).to_be_visible()
    expect(person.page.get_by_text("name server b:9876 is away")).to_be_visible()
    table.get_by_role("link", name="orders").click()
    expect(person.heading).to_have_text("orders")
    expect(person.page.get_by_text("10.0.0.7@1 joined: 3 queues moved")).to_be_visible()
    expect(person.page.get_by_role("row", name="one member comes")).to_contain_text("2–5")


def test_a_sick_group_says_what_is_wrong(visit: Visiting) -> None:
    """Each problem with what helps; nothing on the page changes anything."""
    person = visit()
    person.open("native", "rocketmq", "bills")
    for text in ("processes share this id", "the client is connected, and does not answer"):
        expect(person.page.get_by_text(text)).to_be_visible()
    expect(person.page.get_by_role("cell", name="frozen")).to_be_visible()
    main = person.page.get_by_role("main")
    expect(main.get_by_role("button", name="Apply")).to_have_count(0)


def test_a_group_that_no_look_has_seen(visit: Visiting) -> None:
    """The page says so, and where all are listed."""
    person = visit()
    person.expect_failures("404")
    person.open("native", "kafka", "other")
    expect(person.page.get_by_role("alert")).to_contain_text("has seen a native group other")
