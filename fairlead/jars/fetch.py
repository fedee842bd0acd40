"""Make sure that a set of jars is in the cache, fetching it if it is not.

One caller fetches, the others wait for it. Files are brought into a staging folder, verified there
and renamed into place. Ivy's own cache outlives an interrupted fetch, so the next one goes on where
it stopped; after a failure it is thrown away, because it may remember that something was not found.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.ivy import Ivy, IvyFailureError, find_ivy
from fairlead.jars.manifest import JarSet, JarSetName, load_jar_set
from fairlead.jars.progress import FetchProgress, OnStep, SilentProgress
from fairlead.jars.store import JarStore, cache_root, verify_folder
from fairlead.java import find_java


def ensure_jars(name: JarSetName, progress: FetchProgress | None = None) -> Path:
    """Return the folder that holds a set of jars, complete and verified.

    Args:
        name: which set.
        progress: told about each step of a fetch; silent when the jars are there.

    Raises:
        EnvironmentMissingError: no Java, no network, a wrong checksum: says which and what to do.
    """
    jar_set = load_jar_set(name)
    store = JarStore(cache_root())
    if store.is_complete(jar_set):
        return store.folder(jar_set)
    fetcher = JarFetcher(store, find_ivy(find_java()), progress or SilentProgress())
    return fetcher.fetch(jar_set)


@dataclass(frozen=True, slots=True)
class JarFetcher:
    """Fills one store with the help of one Ivy."""

    store: JarStore
    ivy: Ivy
    progress: FetchProgress

    def fetch(self, jar_set: JarSet) -> Path:
        """Bring the set into the store unless somebody else did so meanwhile; return its folder.

        Raises:
            EnvironmentMissingError: it could not be fetched, or is not what the manifest pins.
        """
        folder = self.store.folder(jar_set)
        with self.store.lock(jar_set, lambda: self.progress.waiting(jar_set)):
            if self.store.is_complete(jar_set):
                return folder
            self._remove_leftovers(jar_set)
            staging = Path(
                tempfile.mkdtemp(prefix=f".staging-{jar_set.name}-", dir=self.store.jars)
            )
            try:
                with self.progress.fetching(jar_set) as on_step:
                    self._bring(jar_set, staging, on_step)
                # An incomplete folder of this name was put there by hand; rename refuses to merge.
                shutil.rmtree(folder, ignore_errors=True)
                staging.chmod(0o755)
                staging.rename(folder)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
            shutil.rmtree(self._ivy_cache(jar_set), ignore_errors=True)
        self.progress.fetched(jar_set, folder)
        return folder

    def _bring(self, jar_set: JarSet, staging: Path, on_step: OnStep) -> None:
        """Fill the staging folder and verify it; try once more, from nothing, if that may help."""
        ivy_cache = self._ivy_cache(jar_set)
        resumed = ivy_cache.exists()
        try:
            self.ivy.retrieve(jar_set, ivy_cache, staging, on_step)
            verify_folder(staging, jar_set)
            return
        except IvyFailureError as failure:
            reasons = failure.reasons
        except EnvironmentMissingError as error:
            # A wrong checksum from an empty cache is what the repository serves: refused at once.
            if not resumed:
                raise
            reasons = (error.message,)
        self.progress.retrying(jar_set, reasons)
        shutil.rmtree(ivy_cache, ignore_errors=True)
        shutil.rmtree(staging)
        try:
            self.ivy.retrieve(jar_set, ivy_cache, staging, on_step)
        except IvyFailureError as failure:
            shutil.rmtree(ivy_cache, ignore_errors=True)
            raise self._given_up(jar_set, failure.reasons) from failure
        verify_folder(staging, jar_set)

    def _given_up(self, jar_set: JarSet, reasons: tuple[str, ...]) -> EnvironmentMissingError:
        size_mb = jar_set.bytes / 1e6
        return EnvironmentMissingError(
            f"jars: the set {jar_set.name!r} could not be fetched, twice: {'; '.join(reasons)}",
            remedy="Check the network and try again. Behind a mirror or a proxy: set "
            "FAIRLEAD_IVY_SETTINGS to an Ivy settings file, or JAVA_TOOL_OPTIONS to Java's proxy "
            f"options. Without a network: copy the {len(jar_set.jars)} jars ({size_mb:.0f} MB) "
            f"from the cache of another machine into "
            f"{self.store.folder(jar_set)}; they are verified.",
        )

    def _ivy_cache(self, jar_set: JarSet) -> Path:
        return self.store.jars / f".ivy-{jar_set.folder_name}"

    def _remove_leftovers(self, jar_set: JarSet) -> None:
        """Remove the staging folders of callers that died; the lock says that none is alive."""
        for leftover in self.store.jars.glob(f".staging-{jar_set.name}-????????"):
            shutil.rmtree(leftover, ignore_errors=True)
