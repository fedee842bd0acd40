"""The repository works wherever it is cloned, and installs from whatever registry is set."""

import re
from pathlib import Path

import pytest

from tests.tidy.source_tree import named, text_files

SHARED_PLACES = (
    # What every system of the kind has, and what an image of ours lays out.
    "bin", "dev", "etc", "opt", "proc", "run", "sys", "usr", "var",
    # What nobody has: examples of a path, and folders of programs and archives in tests.
    "path", "nowhere", "jdk", "jars", "org",
    # No folder: where Grafana has dashboards.
    "d",
    # Not of a disk: what is asked over HTTP, and places in a document of it.
    "api", "v1", "console", "components",
)  # fmt: skip
"""The top folders that a text may name; any other absolute path is of somebody's machine."""

HOMES = r"/(?:home|root|Users)/"
BEFORE = r"(?:(?<![\w.~}*/#])(?<![a-z]>)|(?<=file://))"  # not inside a/b, <a>/b or #/a
ABSOLUTE = rf"{BEFORE}/(?!(?:{'|'.join(SHARED_PLACES)})/)\w[\w.+-]*/"
REGISTRIES = (
    "pypi.org", "pythonhosted.org", "maven.org", "maven.apache.org", "sonatype.com", "npmjs.org",
    "docker.io", "ghcr.io", "quay.io",
)  # fmt: skip
BANNED = re.compile("|".join((HOMES, ABSOLUTE, *(re.escape(word) for word in REGISTRIES))))


@pytest.mark.parametrize(
    "text",
    [
        *(f"see {registry}/simple" for registry in REGISTRIES),
        "see /anywhere/main",
        '"/anywhere/main"',
        "`/tmp/x/y`",
        "--data=/mnt/disk/x",
        "2>/anywhere/x.log",
        "volume:/data/x",
        "file:/anywhere/x",
        "file:///anywhere/x",
        "x/home/me/y",
        "~/../root/.cache",
        "C:/Users/me",
    ],
)
def test_a_banned_place_is_found(text: str) -> None:
    """The search finds folders of a machine, however they are quoted, and each registry."""
    assert BANNED.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "/opt/fairlead/cache",
        "JAVA=/path/to/java",
        "docs/adr/x.md",
        "~/.cache/fairlead",
        "<checkpoint>/query/0",
        "a / b / c",
    ],
)
def test_a_shared_place_is_left_alone(text: str) -> None:
    """The search leaves alone what is on every machine or on none, and what is relative."""
    assert not BANNED.search(text)


def test_no_file_names_a_banned_place() -> None:
    """No file but this one names a folder of somebody's machine or the address of a registry."""
    found = [
        f"{named(path)}:{number} {match.group()}"
        for path in text_files()
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := BANNED.search(line))
    ]
    assert found == []
