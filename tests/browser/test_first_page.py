"""The first page: what it costs, and whom it asks."""

from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import expect

from tests.browser.visit import Visit

BYTES_MAX: Final = 300_000
PAINT_MS_MAX: Final = 3_000
"""A second on a machine that does nothing else; tests share theirs with two others."""

_COST: Final = """() => ({
  bytes: ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
    .map((each) => each.transferSize).reduce((a, b) => a + b, 0),
  painted_ms: performance.getEntriesByName("first-contentful-paint")[0].startTime,
})"""


def test_the_first_page_is_light_and_early(visit: Callable[..., Visit]) -> None:
    """Page, code and the list of 2,000 groups are 300 KB at most, and it paints at once."""
    person = visit()
    expect(person.open()).to_be_visible()
    expect(person.page.get_by_role("table")).to_be_visible()
    cost: dict[str, Any] = person.page.evaluate(_COST)
    assert cost["painted_ms"] < PAINT_MS_MAX
    assert 10_000 < cost["bytes"] < BYTES_MAX
