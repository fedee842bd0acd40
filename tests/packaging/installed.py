"""Fairlead installed from its wheels into an environment of its own, away from every checkout."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Final

from tests.kit.awaiting import LONGEST_SECONDS

ROOT: Final = Path(__file__).resolve().parents[2]
PROJECTS: Final = (ROOT, ROOT / "client")


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project into a folder and return its path."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=project,
        check=True,
        capture_output=True,
        timeout=LONGEST_SECONDS,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, folder: Path) -> None:
    """Put what a wheel holds into a folder of packages."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def install(folder: Path, *modules: Path) -> Path:
    """Make an environment with Fairlead's wheels and these modules; return its Python.

    What Fairlead depends on is read from the environment of the tests. A line in a `.pth` file adds
    that folder and none of the checkouts that its own `.pth` files name.
    """
    environment = folder / "environment"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment],
        check=True,
        timeout=LONGEST_SECONDS,
    )
    (packages,) = environment.glob("lib/python*/site-packages")
    others = sysconfig.get_paths()["purelib"]
    (packages / "dependencies.pth").write_text(f"{others}\n", encoding="utf-8")
    for number, project in enumerate(PROJECTS):
        wheels = folder / f"wheel-{number}"
        wheels.mkdir()
        unpack(build_wheel(project, wheels), packages)
    for module in modules:
        (packages / module.name).write_bytes(module.read_bytes())
    return environment / "bin" / "python"


def origins(python: Path, folder: Path, *packages: str) -> list[Path]:
    """Return where this Python finds packages, when it runs in that folder."""
    program = "import importlib, sys\nfor name in sys.argv[1:]:\n"
    program += "    print(importlib.import_module(name).__file__)"
    done = subprocess.run(
        [python, "-c", program, *packages],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    return [Path(line) for line in done.stdout.splitlines()]
