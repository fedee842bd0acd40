"""What others wrote stands in the pages as they published it, with its license."""

import base64
import hashlib
import re

from tests.console.page_files import VENDORED

ROW = re.compile(
    r"^\| `([^`]+)` \| (\w\S* \d\S*) \| `[^`]+` \| ([^|]+) \| `([^`]+)` \|$", re.MULTILINE
)
ROWS = ROW.findall((VENDORED / "README.md").read_text(encoding="utf-8"))


def test_each_vendored_file_is_the_published_one() -> None:
    """The SHA-512 of each file is the one of its row."""
    assert ROWS
    hashes = {
        name: base64.b64encode(hashlib.sha512((VENDORED / name).read_bytes()).digest()).decode()
        for name, *_ in ROWS
    }
    assert hashes == {name: digest for name, _, _, digest in ROWS}


def test_each_vendored_file_has_a_row() -> None:
    """Nothing of others is here that the table does not name."""
    files = {
        path.relative_to(VENDORED).as_posix() for path in VENDORED.rglob("*") if path.is_file()
    }
    assert files - {"README.md"} == {name for name, *_ in ROWS}


def test_each_package_has_its_license() -> None:
    """Beside the code of a package stands the text of its license."""
    folders = {name.partition("/")[0] for name, *_ in ROWS}
    licensed = {name.partition("/")[0] for name, *_ in ROWS if "/LICENSE" in name}
    assert folders == licensed
