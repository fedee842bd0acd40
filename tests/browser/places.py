"""The places of the console, as its tests visit them."""

from typing import TYPE_CHECKING, Final

from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.browser.told_server import Told
    from tests.browser.visit import Visit

__all__ = ["PLACES", "QUEUE", "arrived", "place_of"]

QUEUE: Final = ("orders", "main", "0")
PLACES: Final = (
    "groups",
    "group",
    "decision",
    "queue",
    "what-if",
    "safety",
    "login",
    "native",
    "native-group",
)


def place_of(name: str, told: "Told") -> tuple[str, ...]:
    """Return the names of the address of a place, in the group of orders."""
    newest = told.decisions("orders")[-1]
    return {
        "groups": ("groups",),
        "group": ("groups", "orders"),
        "decision": ("groups", "orders", "decisions", str(newest)),
        "queue": ("groups", "orders", "queues", *QUEUE),
        "what-if": ("groups", "orders", "what-if"),
        "safety": ("safety",),
        "login": ("login",),
        "native": ("native",),
        "native-group": ("native", "rocketmq", "orders"),
    }[name]


def arrived(visit: "Visit") -> None:
    """Wait until a place is shown with what it has to say: nothing loads any more."""
    expect(visit.heading).to_be_visible()
    expect(visit.page.locator("main [aria-busy=true]")).to_have_count(0)
