"""A copy of the source tree in which one mutant at a time takes the place of the source."""

import compileall
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

from tests.mutants.mutant import Edit, patched

__all__ = ["ROOT", "Tree"]

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "conf", "fairlead", "pyproject.toml", "sinks", "strategies", "streaming", "tests",
    "client/fairlead_client", "client/tests", "proof/fairlead_proof",
)  # fmt: skip
COMPILED = ("fairlead", "strategies", "client/fairlead_client", "proof/fairlead_proof")


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of everything that the catchers import. ``root``: its top folder."""

    root: Path

    @classmethod
    def of_source(cls, folder: Path) -> "Tree":
        """Copy the source into a folder, with bytecode.

        The bytecode is checked by the hash of its source, so that no edit is overlooked within the
        second of an earlier one.
        """
        for name in COPIED:
            source, target = ROOT / name, folder / name
            if source.is_file():
                shutil.copy(source, target)
            else:
                ignored = shutil.ignore_patterns("__pycache__", "results")
                shutil.copytree(source, target, ignore=ignored)
        for name in COMPILED:
            compileall.compile_dir(
                folder / name, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH
            )
        return cls(folder)

    def copied(self, folder: Path) -> "Tree":
        """Return a copy of this one."""
        shutil.copytree(self.root, folder, dirs_exist_ok=True)
        return Tree(folder)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment in which Python imports from here, and leaves no bytecode behind."""
        path = os.pathsep.join(str(self.root / folder) for folder in ("", "client", "proof"))
        return {
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }

    @contextmanager
    def with_edits(self, edits: tuple[Edit, ...]) -> Iterator[None]:
        """Let the edits stand in the copy for a while.

        Raises:
            PatchError: an edit does not fit the source.
        """
        changed = patched(self.root, edits)
        before = {path: path.read_text(encoding="utf-8") for path in changed}
        try:
            for path, text in changed.items():
                path.write_text(text, encoding="utf-8")
            yield
        finally:
            for path, text in before.items():
                path.write_text(text, encoding="utf-8")
