"""Names that strangers chose are shown as they are, and do nothing."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.places import arrived
from tests.browser.scene import HOSTILE
from tests.browser.told_server import Told
from tests.browser.visit import Visit

Visiting = Callable[..., Visit]
GROUP = "hostile-names"
PLACES = {
    "group": (),
    "decision": ("decisions", "newest"),
    "queue": ("queues", "hostile", "main", "0"),
    "what-if": ("what-if",),
}
_OWN = """() => ({
  elements: [...document.querySelectorAll(
    "script:not([src]), img, iframe, object, embed, [onerror], [onload], [onmouseover]"
  )].map((each) => each.outerHTML.slice(0, 100)),
  links: [...document.querySelectorAll("a[href]")].map((each) => each.getAttribute("href"))
    .filter((each) => !each.startsWith("#/")),
  wide: document.documentElement.scrollWidth - window.innerWidth,
  unmarked: document.body.innerText.includes("\\u202e"),
})"""


@pytest.mark.parametrize("place", PLACES)
def test_hostile_names_are_inert(place: str, visit: Visiting, told: Told) -> None:
    """No name becomes an element, a link, a program, or text that turns its line around."""
    person = visit(viewport={"width": 1024, "height": 800})
    newest = str(told.decisions(GROUP)[-1])
    names = [newest if name == "newest" else name for name in PLACES[place]]
    person.open("groups", GROUP, *names)
    arrived(person)
    found = person.page.evaluate(_OWN)
    links = [each for each in found.pop("links") if each != "#main"]
    assert links == []
    assert found == {"elements": [], "wide": 0, "unmarked": False}


def test_hostile_names_are_shown_whole(visit: Visiting) -> None:
    """Who looks for such a client finds it under its own name."""
    person = visit()
    person.open("groups", GROUP)
    arrived(person)
    members = person.page.get_by_role("table", name="Members")
    for client_id in HOSTILE:
        expect(members.get_by_text(client_id, exact=True).first).to_be_attached()
