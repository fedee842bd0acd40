"""The files of the console's pages, as its tests look at them."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = ROOT / "fairlead" / "console" / "pages"
VENDORED: Final = PAGES / "vendor"
INDEX: Final = PAGES / "index.html"

_IMPORTED = re.compile(r"""(?:\bfrom|\bimport)\s+"(\.[^"]+)";""")
_LATER = re.compile(r"""\bimport\("(\.[^"]+)"\)""")
_NEEDED = re.compile(r"""\b(?:src|href)="(console/[^"]+)\"""")


def own_files(*suffixes: str) -> list[Path]:
    """Return the files with these endings that this project wrote itself."""
    files = (path for path in PAGES.rglob("*") if path.is_file() and path.suffix in suffixes)
    return sorted(path for path in files if not path.is_relative_to(VENDORED))


def named(path: Path) -> str:
    """Return a file's path below the pages."""
    return path.relative_to(PAGES).as_posix()


def imports(script: Path, *, later: bool = False) -> list[Path]:
    """Return the modules that a module asks for at once, or those that it asks for later."""
    text = script.read_text(encoding="utf-8")
    return [
        (script.parent / each).resolve() for each in (_LATER if later else _IMPORTED).findall(text)
    ]


def first_load(view: str) -> set[Path]:
    """Return every file that a browser asks for until it shows a page in English."""
    index = INDEX.read_text(encoding="utf-8")
    waiting = [PAGES / each.removeprefix("console/") for each in _NEEDED.findall(index)]
    waiting += [INDEX, PAGES / "js" / "views" / f"{view}.js", PAGES / "words" / "en.js"]
    loaded: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in loaded:
            continue
        loaded.add(path)
        if path.suffix == ".js" and not path.is_relative_to(VENDORED):
            waiting += imports(path)
    return loaded
