"""The browser in which the console is tested: the machine's own Chromium, else Debian's, unpacked.

`python -m tests.chromium` brings it, and letters for Chinese, without root; the tests do so
themselves where it was not run. Playwright's own browsers are not asked for: they come from one
address on the network, and Debian's come from wherever apt of this machine gets its packages.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fairlead.errors import EnvironmentMissingError
from tests.apt_tree import AptTree, find_in_cache
from tests.kit.awaiting import LONGEST_SECONDS
from tools.prometheus.apt import AptPackage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["Chromium", "ensure_chromium"]

PACKAGE: Final = "chromium-headless-shell"
OWN: Final = (PACKAGE, "chromium", "chromium-browser", "google-chrome")
"""What a machine calls its own, in the order in which they are asked."""
VERSION_MIN: Final = 120
"""An older one lacks what the pages use."""
FONT_PACKAGE: Final = "fonts-wqy-microhei"
FONT: Final = "wqy-microhei.ttc"
"""The smallest of Debian that has the letters of Chinese: 2 MB."""
REMEDY: Final = "Install Chromium, or let apt reach a mirror: the console is tested in it."
OPTIONS: Final = ("--disable-gpu", "--disable-quic", "--force-color-profile=srgb")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that can be run from here.

    ``libraries``: folders with what it needs; ``fonts``: folders with letters beside the machine's.
    """

    program: Path
    libraries: tuple[Path, ...] = ()
    fonts: tuple[Path, ...] = field(default=())

    @contextmanager
    def running(self, folder: Path) -> Iterator["Browser"]:
        """Run it while the context is open; ``folder`` takes its list of fonts."""
        from playwright.sync_api import sync_playwright

        fonts = folder / "fonts.conf"
        fonts.write_text(self._fonts(folder), encoding="utf-8")
        environment: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(fonts)}
        if self.libraries:
            kept = os.environ.get("LD_LIBRARY_PATH")
            paths = [*map(str, self.libraries), *([kept] if kept else ())]
            environment["LD_LIBRARY_PATH"] = os.pathsep.join(paths)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=self.program, env=environment, args=OPTIONS
            )
            try:
                yield browser
            finally:
                browser.close()

    def _fonts(self, cache: Path) -> str:
        folders = "".join(f"<dir>{path}</dir>" for path in self.fonts)
        system = '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>'
        return f"<fontconfig>{system}{folders}<cachedir>{cache}</cachedir></fontconfig>\n"


def ensure_chromium(say: Say) -> Chromium:
    """Return a browser; one that is not on this machine is fetched with apt, once.

    Raises:
        EnvironmentMissingError: it cannot be had here: says why, and what to do.
    """
    fonts = _chinese_letters(say)
    for name in OWN:
        found = shutil.which(name)
        if found is not None and _version(found) >= VERSION_MIN:
            return Chromium(Path(found), fonts=fonts)
    # A file of this name in usr/bin is a script that asks Debian's own folders.
    program = find_in_cache("browser", PACKAGE, partial(_tree, PACKAGE, "lib/chromium/", say))
    tree = program.parent
    libraries = {path.parent for path in tree.rglob("lib*.so*")}
    return Chromium(program, tuple(sorted(libraries)), (*fonts, tree / "usr/share/fonts"))


def _chinese_letters(say: Say) -> tuple[Path, ...]:
    """Return where they stand; nowhere if they cannot be had: only pictures need them."""
    try:
        font = find_in_cache("fonts", FONT, partial(_tree, FONT_PACKAGE, "", say))
    except EnvironmentMissingError as error:
        say(f"{FONT_PACKAGE}: pictures in Chinese show boxes: {error}")
        return ()
    return (font.resolve().parent,)


def _tree(package: str, below: str, say: Say) -> AptTree:
    return AptTree(AptPackage(package, say, REMEDY), below)


def _version(program: str) -> int:
    """Return the first part of a program's version; 0: it does not run."""
    try:
        said = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LONGEST_SECONDS,
        ).stdout
    except OSError:
        return 0
    found = re.search(r" (\d+)\.", said)
    return int(found[1]) if found else 0


def main() -> int:
    """Bring it; return 1 if it cannot be had."""
    try:
        chromium = ensure_chromium(lambda line: print(line, file=sys.stderr))  # noqa: T201
    except EnvironmentMissingError as error:
        print(f"{error} {error.remedy}", file=sys.stderr)  # noqa: T201 - the answer
        return 1
    print(f"chromium: {chromium.program}")  # noqa: T201 - the answer
    return 0


if __name__ == "__main__":
    sys.exit(main())
