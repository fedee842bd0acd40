"""The files of deploy/grafana/dashboards, and what they hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tools.dashboards.frame import Page, file_text
from tools.dashboards.group import one_group
from tools.dashboards.overview import overview

FOLDER: Final = Path("deploy/grafana/dashboards")
"""Where they stand in a checkout; provisioning names the folder."""


def pages() -> list[Page]:
    """Return every dashboard."""
    first = overview()
    return [first, one_group(first.uid)]


def files() -> Mapping[str, bytes]:
    """Return the name of each file, and what stands in it."""
    return {f"{page.uid}.json": file_text(page) for page in pages()}


def write(folder: Path) -> list[Path]:
    """Write the dashboards into a folder, and return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in files().items():
        (folder / name).write_bytes(text)
        written.append(folder / name)
    return written
