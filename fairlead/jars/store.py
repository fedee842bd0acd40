"""The folders of fetched jars, and the check that a folder holds exactly the pinned jars.

A folder gets its name only when it is complete (it is filled elsewhere and renamed), so a reader
never sees half of it. Only the holder of a set's lock may fill its folder.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.lock import locked
from fairlead.jars.manifest import Jar, JarSet


def cache_root() -> Path:
    """Return $FAIRLEAD_CACHE, or $XDG_CACHE_HOME/fairlead, or ~/.cache/fairlead."""
    named = os.environ.get("FAIRLEAD_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME")
    base = Path(xdg) if xdg else Path.home() / ".cache"
    return base.absolute() / "fairlead"


class JarStore:
    """The folders of jars in one cache."""

    def __init__(self, root: Path) -> None:
        self.jars = root / "jars"

    def folder(self, jar_set: JarSet) -> Path:
        """Return the set's folder; it exists once it is complete."""
        return self.jars / jar_set.folder_name

    def is_complete(self, jar_set: JarSet) -> bool:
        """Tell whether the folder has exactly the pinned jars of the set.

        Raises:
            EnvironmentMissingError: a jar has another checksum, or there is a foreign jar.
        """
        folder = self.folder(jar_set)
        if not all((folder / jar.file_name).is_file() for jar in jar_set.jars):
            return False
        verify_folder(folder, jar_set)
        return True

    @contextmanager
    def lock(self, jar_set: JarSet, on_wait: Callable[[], None]) -> Iterator[None]:
        """Hold the set's lock, so that one caller fetches and concurrent ones wait.

        Args:
            jar_set: the set to lock.
            on_wait: called once if another process holds the lock.
        """
        self._make_root()
        with locked(self.jars / f".{jar_set.name}.lock", on_wait):
            yield

    def _make_root(self) -> None:
        try:
            self.jars.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentMissingError(
                f"jars: the cache {self.jars} cannot be created ({error.strerror}).",
                remedy="Set FAIRLEAD_CACHE to a writable folder.",
            ) from error


def verify_folder(folder: Path, jar_set: JarSet) -> None:
    """Compare a folder with the manifest, file by file.

    Raises:
        EnvironmentMissingError: a jar is missing, differs from the manifest, or is foreign.
    """
    for jar in jar_set.jars:
        _verify_jar(folder, jar)
    pinned = {jar.file_name for jar in jar_set.jars}
    foreign = sorted({path.name for path in folder.glob("*.jar")} - pinned)
    if foreign:
        raise EnvironmentMissingError(
            f"jars: {folder} holds {foreign[0]}, which is not in the set {jar_set.name!r}.",
            remedy=f"Remove the folder {folder} and run: fairlead setup jars",
        )


def _verify_jar(folder: Path, jar: Jar) -> None:
    path = folder / jar.file_name
    if not path.is_file():
        raise EnvironmentMissingError(
            f"jars: {jar.file_name} is missing in {folder}.", remedy="Run: fairlead setup jars"
        )
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != jar.sha256:
        raise EnvironmentMissingError(
            f"jars: {jar.file_name} has the wrong checksum: expected SHA-256 {jar.sha256}, "
            f"found {found} ({path.stat().st_size} bytes, expected {jar.bytes}).",
            remedy=f"Do not use it. Remove {folder} if it exists and run: fairlead setup jars. "
            "If it happens again, the repository or a proxy serves another file.",
        )
