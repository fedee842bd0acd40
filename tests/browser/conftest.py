"""The browser and the console that it visits, shared by the tests of a process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka
    from tests.browser.live_console import LiveConsole
    from tests.browser.told_server import Told
    from tests.browser.visit import Visit

Visiting = Callable[..., "Visit"]


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Browser"]:
    """Chromium."""
    import structlog
    from playwright.sync_api import expect

    from tests.browser.visit import WAIT_MS
    from tests.chromium import ensure_chromium

    expect.set_options(timeout=WAIT_MS)
    chromium = ensure_chromium(structlog.get_logger().info)
    with chromium.running(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture(scope="package")
def told() -> Iterator["Told"]:
    """An hour of 2,000 groups, which goes on."""
    from tests.browser import told_server

    with told_server.told() as shown:
        yield shown


@pytest.fixture(scope="package")
def console(told: "Told") -> Iterator[str]:
    """The address of a console of that scene, where anybody on this machine may do everything."""
    with told.serving() as url:
        yield url


@pytest.fixture
def visit(browser: "Browser", console: str) -> Iterator[Visiting]:
    """Open the console; each call is a person of their own. Options as `visiting` takes them."""
    from tests.browser.visit import visiting

    def opened(url: str = console, **options: object) -> "Visit":
        return stack.enter_context(visiting(browser, url, **options))

    with ExitStack() as stack:
        yield opened


@pytest.fixture(scope="package")
def live(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator["LiveConsole"]:
    """A live system with three consumers."""
    from tests.browser.live_console import live_console

    with live_console(spark_of_the_run, kafka.bootstrap, tmp_path_factory.mktemp("live")) as found:
        yield found
