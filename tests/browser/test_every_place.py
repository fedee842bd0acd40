"""Every place of the console, for everybody: axe, widths, zoom, calm, and both languages."""

from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.browser.axe import shut_out
from tests.browser.places import PLACES, arrived, place_of
from tests.browser.told_server import Told
from tests.browser.visit import Visit

Visiting = Callable[..., Visit]

ZOOMED: Final = {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}
"""What 200 % leaves of a window of 1,280 by 900."""
PHONE: Final = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NARROWEST: Final = {"viewport": {"width": 320, "height": 640}}
"""WCAG 1.4.10: nobody scrolls in two directions to read."""

_TOO_WIDE: Final = """() => document.documentElement.scrollWidth - window.innerWidth"""
_MOVING: Final = """() => [...document.querySelectorAll("*")].filter((each) => {
  const style = getComputedStyle(each);
  const longest = (text) => Math.max(...text.split(",").map(parseFloat));
  return longest(style.transitionDuration) > 0.01 ||
    (style.animationName !== "none" && longest(style.animationDuration) > 0.01);
}).map((each) => each.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize(
    "scheme, rules",
    [("light", []), pytest.param("dark", ["color-contrast"], marks=pytest.mark.slow)],
)
def test_axe_finds_nothing(scheme: str, rules: list[str], visit: Visiting, told: Told) -> None:
    """Axe finds nothing in any place, and in the dark, where colours alone differ, neither."""
    person = visit(color_scheme=scheme)
    found = {}
    for place in PLACES:
        person.open(*place_of(place, told))
        arrived(person)
        found[place] = shut_out(person.page, *rules)
    assert found == {place: [] for place in PLACES}


@pytest.mark.parametrize(
    "options", [ZOOMED, PHONE, NARROWEST], ids=["zoomed", "phone", "narrowest"]
)
def test_no_page_is_wider_than_its_window(
    options: dict[str, object], visit: Visiting, told: Told
) -> None:
    """At 200 %, on a phone and at 320 pixels nobody has to scroll a page sideways."""
    person = visit(**options)
    wider = {}
    for place in PLACES:
        person.open(*place_of(place, told))
        arrived(person)
        wider[place] = person.page.evaluate(_TOO_WIDE)
    assert wider == dict.fromkeys(PLACES, 0)


def test_whoever_wants_no_motion_has_none(visit: Visiting, told: Told) -> None:
    """Under reduced motion nothing is animated, and nothing glides from one state to another."""
    person = visit(reduced_motion="reduce")
    moving = {}
    for place in PLACES:
        person.open(*place_of(place, told))
        arrived(person)
        moving[place] = person.page.evaluate(_MOVING)
    assert moving == {place: [] for place in PLACES}


def test_every_place_has_a_name_of_its_own(visit: Visiting, told: Told) -> None:
    """The title of each place differs, so that tabs and bookmarks tell them apart."""
    person = visit()
    titles = set()
    for place in PLACES:
        person.open(*place_of(place, told))
        arrived(person)
        titles.add(person.page.title())
    assert len(titles) == len(PLACES)


def test_a_place_can_be_read_in_chinese(visit: Visiting, told: Told) -> None:
    """Under Chinese no place has an English word of the pages left, and says so of itself."""
    person = visit(locale="zh-CN")
    for place in PLACES:
        person.open(*place_of(place, told))
        arrived(person)
        expect(person.page.locator("html")).to_have_attribute("lang", "zh-CN")
