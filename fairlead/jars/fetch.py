"""Makes sure that a set of jars is in the cache; fetches it if it is missing.

One caller fetches, the others wait. Files go to a staging folder, are verified there and renamed
into place. Ivy's own cache survives an interrupted fetch, so the next one resumes; after a failure
it is deleted, because it may remember that a file was not found.
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
    """Return the folder of a set of jars, complete and verified.

    Args:
        name: the set.
        progress: gets each step of a fetch; gets nothing if the jars are already there.

    Raises:
        EnvironmentMissingError: no Java, no network, or a wrong checksum.
    """
    jar_set = load_jar_set(name)
    store = JarStore(cache_root())
    if store.is_complete(jar_set):
        return store.folder(jar_set)
    fetcher = JarFetcher(store, find_ivy(find_java()), progress or SilentProgress())
    return fetcher.fetch(jar_set)


@dataclass(frozen=True, slots=True)
class JarFetcher:
    """Fills one store by one Ivy."""

    store: JarStore
    ivy: Ivy
    progress: FetchProgress

    def fetch(self, jar_set: JarSet) -> Path:
        """Fetch the set into the store unless another process has done so; return its folder.

        Raises:
            EnvironmentMissingError: the fetch failed, or a file differs from the manifest.
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
                # Somebody has put an incomplete folder there; rename refuses to merge.
                shutil.rmtree(folder, ignore_errors=True)
                staging.chmod(0o755)
                staging.rename(folder)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
            shutil.rmtree(self._ivy_cache(jar_set), ignore_errors=True)
        self.progress.fetched(jar_set, folder)
        return folder

    def _bring(self, jar_set: JarSet, staging: Path, on_step: OnStep) -> None:
        """Fill the staging folder and verify it; retry once from scratch if that may help."""
        ivy_cache = self._ivy_cache(jar_set)
        resumed = ivy_cache.exists()
        try:
            self.ivy.retrieve(jar_set, ivy_cache, staging, on_step)
            verify_folder(staging, jar_set)
            return
        except IvyFailureError as failure:
            reasons = failure.reasons
        except EnvironmentMissingError as error:
            # With an empty cache, a wrong checksum comes from the repository: refuse at once.
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
            f"jars: fetching the set {jar_set.name!r} failed twice: {'; '.join(reasons)}",
            remedy="Check the network and try again. Behind a mirror or a proxy: set "
            "FAIRLEAD_IVY_SETTINGS to an Ivy settings file, or JAVA_TOOL_OPTIONS to Java's proxy "
            f"options. Without a network: copy the {len(jar_set.jars)} jars ({size_mb:.0f} MB) "
            f"from the cache of another machine into "
            f"{self.store.folder(jar_set)}; they are verified.",
        )

    def _ivy_cache(self, jar_set: JarSet) -> Path:
        return self.store.jars / f".ivy-{jar_set.folder_name}"

    def _remove_leftovers(self, jar_set: JarSet) -> None:
        """Remove the staging folders of dead callers; the lock shows that none is alive."""
        for leftover in self.store.jars.glob(f".staging-{jar_set.name}-????????"):
            shutil.rmtree(leftover, ignore_errors=True)
