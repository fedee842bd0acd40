"""The locks install the same bytes everywhere, from any registry."""

import re
import tomllib
from typing import Any

import orjson
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tidy.source_tree import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?P<rest>.*(?:\n    --hash=.*)*)", re.MULTILINE
)
Pins = dict[str, set[str]]
OURS = "fairlead-client"
"""A dependency that stands in this repository: set-up installs its folder."""


def _pins(lock: str) -> Pins:
    """Return the versions of each package in a lock (more than one only by environment marker)."""
    pins: Pins = {}
    for match in PIN.finditer((ROOT / lock).read_text(encoding="utf-8")):
        pins.setdefault(match["name"], set()).add(match["version"])
    return pins


def _project(path: str) -> dict[str, Any]:
    """Return a parsed project file."""
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("lock", LOCKS)
def test_each_locked_package_has_a_hash(lock: str) -> None:
    """Each package in a lock has at least one hash."""
    matches = list(PIN.finditer((ROOT / lock).read_text(encoding="utf-8")))
    assert matches
    assert [match["name"] for match in matches if "--hash=sha256:" not in match["rest"]] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str) -> None:
    """A lock names no index, no link and no address."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"--(?:extra-)?index|--find-links|://|^-", text, re.MULTILINE) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_nothing_of_this_repository(lock: str) -> None:
    """No registry is asked for the client: it comes from its folder, as the engine does."""
    assert {name for name in _pins(lock) if name.startswith("fairlead")} == set()


def test_each_locked_package_of_node_has_a_hash_and_no_address() -> None:
    """The lock of npm installs the same bytes from any registry, too."""
    lock = orjson.loads((ROOT / "examples/node/package-lock.json").read_bytes())
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert len(packages) > 1
    assert [name for name, each in packages.items() if "integrity" not in each] == []
    assert [name for name, each in packages.items() if "resolved" in each] == []


def test_both_locks_have_the_same_versions() -> None:
    """Development runs on the very versions that the image runs on."""
    runtime, development = (_pins(lock) for lock in LOCKS)
    assert {name: development.get(name) for name in runtime} == runtime


@pytest.mark.parametrize(
    "project, group, lock",
    [
        ("pyproject.toml", None, "requirements.lock"),
        ("client/pyproject.toml", None, "requirements.lock"),
        ("pyproject.toml", "build", "requirements.lock"),
        ("pyproject.toml", "dev", "requirements-dev.lock"),
    ],
)
def test_each_dependency_is_locked_at_a_fitting_version(
    project: str, group: str | None, lock: str
) -> None:
    """Each foreign package of a project file is in the lock, at a version that it accepts."""
    table = _project(project)
    wanted = table["dependency-groups"][group] if group else table["project"]["dependencies"]
    pins = _pins(lock)
    missing = []
    for text in wanted:
        requirement = Requirement(text)
        if requirement.name == OURS:
            continue
        versions = pins.get(canonicalize_name(requirement.name), set())
        if not versions or not all(version in requirement.specifier for version in versions):
            missing.append((text, versions))
    assert wanted
    assert missing == []


def test_client_is_light() -> None:
    """The client asks for kafka-python and orjson, and for nothing else."""
    wanted = {
        Requirement(text).name
        for text in _project("client/pyproject.toml")["project"]["dependencies"]
    }
    assert wanted == {"kafka-python", "orjson"}
