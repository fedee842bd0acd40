"""The repository works wherever it is cloned, and installs from whatever registry is set."""

import re
from pathlib import Path

import pytest

from tests.tidy.source_tree import named, text_files

PLACES = ("/work/", "/root/", "/home/", "/tmp/boot")  # noqa: S108 - looked for, never written to
REGISTRIES = (
    "pypi.org", "pythonhosted.org", "maven.org", "maven.apache.org", "sonatype.com", "npmjs.org",
    "docker.io", "ghcr.io", "quay.io",
)  # fmt: skip
BANNED = re.compile("|".join(re.escape(word) for word in (*PLACES, *REGISTRIES)))


@pytest.mark.parametrize("word", [*PLACES, *REGISTRIES])
def test_found(word: str) -> None:
    """The search finds each word it is there to find."""
    assert BANNED.search(f"see {word}simple")


def test_files() -> None:
    """No file but this one names a folder of somebody's machine or the address of a registry."""
    found = [
        f"{named(path)}:{number} {match.group()}"
        for path in text_files()
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := BANNED.search(line))
    ]
    assert found == []
