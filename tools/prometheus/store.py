"""Where unpacked programs stand: a folder for each version of the package, complete or absent."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.lock import locked


class Package(Protocol):
    """Something that programs can be taken out of."""

    def waiting(self) -> None:
        """Another process fetches it; this one waits."""

    def bring(self, programs: Sequence[str], folder: Path) -> str:
        """Put the programs into an empty folder; return the version that they are.

        Raises:
            EnvironmentMissingError: it cannot be had here.
        """


class ProgramStore:
    """The programs in one folder of the cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, program: str) -> Path | None:
        """Return a program that is here; of several versions the one that was unpacked last."""
        versions = [*self.folder.glob(f"[!.]*/{program}")]
        return max(versions, key=lambda path: path.parent.stat().st_mtime_ns, default=None)

    def fill(self, package: Package, programs: Sequence[str]) -> None:
        """Bring programs here unless somebody else did so meanwhile.

        Raises:
            EnvironmentMissingError: they cannot be had, or the cache cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentMissingError(
                f"{self.folder.name}: the cache {self.folder} cannot be made ({error.strerror}).",
                remedy="Set FAIRLEAD_CACHE to a folder that may be written.",
            ) from error
        with locked(self.folder / ".lock", package.waiting):
            if all(self.find(program) for program in programs):
                return
            # Nobody else is at it: these are of callers that died.
            for leftover in self.folder.glob(".staging-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=self.folder))
            try:
                version = package.bring(programs, staging)
                staging.chmod(0o755)
                # One of this name that lacks a program: rename refuses to merge.
                shutil.rmtree(self.folder / version, ignore_errors=True)
                staging.rename(self.folder / version)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
