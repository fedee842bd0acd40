"""Archives that the tests bring along."""

import tarfile
from pathlib import Path

__all__ = ["unpack_archive"]


def unpack_archive(archive: Path, folder: Path) -> None:
    """Unpack an archive of ours; of Python 3.11 only the later releases know filters."""
    known = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **known)  # type: ignore[arg-type]  # noqa: S202 - it is ours
