"""One person's visit to the console: a page, and everything that must not happen on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page, Request

__all__ = ["WAIT_MS", "Visit", "visiting"]

WAIT_MS: Final = 30_000.0
"""How long a page may take to show what is awaited, on a machine that does much else."""

_TRAPS: Final = """
window.boom = () => console.error("a name has run as a program");
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`against the policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


class Visit:
    """A page of the console, as one person has it open.

    Attributes:
        page: Playwright's page.
        url: the address of the console.
        faults: what must not happen: errors, dialogs, requests to another origin.
        requests: the addresses that the page has asked.
    """

    def __init__(self, page: "Page", url: str) -> None:
        self.page, self.url = page, url.rstrip("/")
        self.faults: list[str] = []
        self.requests: list[str] = []
        self._expected: tuple[str, ...] = ()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._asked)

    def open(self, *names: str, query: str = "") -> "Locator":
        """Open a place of the console, such as ``"groups", "orders"``; return its heading."""
        path = "/".join(quote(name, safe="") for name in names)
        self.page.goto(f"{self.url}/#/{path}{query}")
        return self.heading

    @property
    def heading(self) -> "Locator":
        """The heading of the place that is shown."""
        return self.page.get_by_role("heading", level=1)

    def expect_failures(self, *parts: str) -> None:
        """Let errors be said that have one of these parts: the test brings them about."""
        self._expected = (*self._expected, *parts)

    def assert_sound(self) -> None:
        """Fail if something has happened that must not."""
        assert not self.faults, self.faults

    def _said(self, message: "ConsoleMessage") -> None:
        if message.type != "error" and "Content Security Policy" not in message.text:
            return
        if not any(part in message.text for part in self._expected):
            self.faults.append(f"{message.text} ({message.location.get('url', '')})")

    def _dialog(self, dialog: "Dialog") -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: "Request") -> None:
        self.requests.append(request.url)
        if urlsplit(request.url)[:2] != urlsplit(self.url)[:2]:
            self.faults.append(f"asked another origin: {request.url}")


@contextmanager
def visiting(browser: "Browser", url: str, **options: Any) -> Iterator[Visit]:
    """Open a context of its own for a visit; at the end nothing may have gone wrong.

    Args:
        browser: the browser.
        url: the address of the console.
        options: as Playwright's ``new_context`` takes them, such as ``color_scheme``.
    """
    context = browser.new_context(**{"locale": "en-GB", "timezone_id": "UTC", **options})
    try:
        context.set_default_timeout(WAIT_MS)
        context.add_init_script(_TRAPS)
        visit = Visit(context.new_page(), url)
        yield visit
        visit.assert_sound()
    finally:
        context.close()
