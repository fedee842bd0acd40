"""A Debian package and what it needs, unpacked in the cache as one tree; without root, once."""

from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.jars.store import cache_root
from tools.prometheus.apt import AptPackage, unpack_all
from tools.prometheus.store import ProgramStore

__all__ = ["AptTree", "find_in_cache"]


class AptTree:
    """Unpacks a package, with a link to the file that counts at the top.

    Args:
        package: what is fetched.
        below: in which folder that file stands, as a pattern of its path; empty: in any.
        links: further links: their place below the top, and what they lead to.
    """

    def __init__(
        self, package: AptPackage, below: str = "", links: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._package = package
        self._below = below
        self._links = links

    def waiting(self) -> None:
        """Say that another process is at it."""
        self._package.waiting()

    def bring(self, programs: Sequence[str], folder: Path) -> str:
        """Unpack into a folder; return the name of the package's file without its ending."""
        with self._package.fetched(folder.parent, whole=True) as files:
            for file in files:
                unpack_all(file, folder)
            for name in programs:
                found = folder.rglob(f"{self._below}{name}")
                (place,) = (path for path in found if path.is_file())
                (folder / name).symlink_to(place.relative_to(folder))
            for link, target in self._links:
                (folder / link).symlink_to(target)
            return files[-1].stem


def find_in_cache(kind: str, name: str, tree: Callable[[], AptTree]) -> Path:
    """Return a file of a tree in the cache; one that is not there is unpacked first.

    Raises:
        EnvironmentMissingError: it cannot be had here: says why, and what to do.
    """
    store = ProgramStore(cache_root() / kind)
    if store.find(name) is None:
        store.fill(tree(), [name])
    found = store.find(name)
    assert found is not None
    return found
