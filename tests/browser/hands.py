"""A person's hands on the keyboard, without a mouse."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

__all__ = ["Hands"]

_STEPS_MAX: Final = 150
_HAS_FOCUS: Final = "(each) => each === document.activeElement"
_SHOWS_FOCUS: Final = """(each) => {
  const style = getComputedStyle(each);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return outlined || style.boxShadow !== "none";
}"""


class Hands:
    """Reaches things by Tab, as somebody does who has no mouse.

    Args:
        page: the page.
    """

    def __init__(self, page: "Page") -> None:
        self._page = page

    def reach(self, wanted: "Locator") -> None:
        """Press Tab until something has the focus, and shows that it has."""
        wanted.wait_for(state="attached")
        for _ in range(_STEPS_MAX):
            if wanted.evaluate(_HAS_FOCUS):
                assert wanted.evaluate(_SHOWS_FOCUS), "nobody sees where the focus is"
                return
            self._page.keyboard.press("Tab")
        raise AssertionError(f"no way to {wanted} within {_STEPS_MAX} steps")

    def press(self, wanted: "Locator", key: str = "Enter") -> None:
        """Reach something, and press a key on it."""
        self.reach(wanted)
        self._page.keyboard.press(key)

    def write(self, wanted: "Locator", text: str) -> None:
        """Reach a field, and write into it."""
        self.reach(wanted)
        self._page.keyboard.type(text)
