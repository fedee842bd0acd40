"""Takes the pictures of docs/console.md anew: `make console-pictures`, from a live system."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import expect

from tests.browser.live_console import GROUP, LiveConsole, live_console
from tests.browser.places import arrived
from tests.browser.visit import Visit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

FOLDER: Final = Path(__file__).parents[2] / "docs" / "console"
_AT_REST: Final = re.compile("live|idle")
BYTES_MAX: Final = 150_000
WINDOW_MS: Final = 70_000
WIDE: Final[dict[str, Any]] = {"viewport": {"width": 1240, "height": 840}}
PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 780},
    "is_mobile": True,
    "has_touch": True,
}
DARK: Final[dict[str, Any]] = {"color_scheme": "dark"}


@pytest.fixture
def live(
    spark_of_the_run: "SparkSession", kafka: "EmbeddedKafka", tmp_path: Path
) -> Iterator[LiveConsole]:
    """A live system whose topic has a name that people read."""
    with live_console(spark_of_the_run, kafka.bootstrap, tmp_path, "orders") as found:
        yield found


@pytest.mark.timeout(600)
def test_the_pictures_are_taken(
    live: LiveConsole, console: str, visit: Callable[..., Visit]
) -> None:
    """Each picture of the page is there, and no larger than a page of docs may have."""
    FOLDER.mkdir(exist_ok=True)
    live.settle_for(30)
    live.start("consumer-d")
    live.await_owned("consumer-d")
    live.settle_for(20)
    killed_ms = int(time.time() * 1_000)
    live.kill("consumer-b")
    live.await_owners("consumer-a", "consumer-c", "consumer-d")
    live.settle_for(15)
    newest = live.served.wait(f"/api/v1/groups/{GROUP}/decisions", 200)["decisions"][-1]["at"][2]
    around = f"?from={killed_ms - WINDOW_MS}&to={killed_ms + WINDOW_MS // 2}"

    def take(name: str, *place: str, query: str = "", url: str = live.url, **options: Any) -> None:
        person = visit(url, **{**WIDE, **options})
        person.open(*place, query=query)
        arrived(person)
        expect(person.page.locator(".connection")).to_have_attribute("data-kind", _AT_REST)
        if options.get("is_mobile") and place[0] == "groups":
            # A narrow window shows figures first, under a header that stays.
            ribbon = person.page.get_by_role("heading", name="Who worked on what")
            ribbon.evaluate("(each) => scrollBy(0, each.getBoundingClientRect().top - 120)")
        person.page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")

    plan = '?plan={"joins":[{"client_id":"new-1"},{"client_id":"new-2"}]}'
    take("kill", "groups", GROUP, query=around)
    take("groups", "groups", url=console)
    take("group-dark", "groups", GROUP, query=around, **DARK)
    take("group-phone", "groups", GROUP, query=around, **PHONE)
    take("decision", "groups", GROUP, "decisions", str(newest))
    take("what-if-dark", "groups", GROUP, "what-if", query=plan, url=console, **DARK)
    take("safety-zh-phone", "safety", locale="zh-CN", **PHONE)
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.png")}
    assert {name: size for name, size in sizes.items() if size > BYTES_MAX} == {}
