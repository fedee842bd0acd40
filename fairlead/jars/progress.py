"""Shows the progress of fetching jars: a bar on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fairlead.jars.manifest import JarSet

Step = Literal["found", "downloaded"]
OnStep = Callable[[Step, str], None]

# Without a terminal, one line per this many jars: a log should show progress, not every file.
_PLAIN_EVERY: Final = 10


class FetchProgress(Protocol):
    """Gets the steps of a fetch."""

    def waiting(self, jar_set: JarSet) -> None:
        """Report that another process fetches this set and this one waits."""

    def fetching(self, jar_set: JarSet) -> AbstractContextManager[OnStep]:
        """Report a fetch, which runs while the context is open; yields a function for each step."""

    def retrying(self, jar_set: JarSet, reasons: tuple[str, ...]) -> None:
        """Report that the first attempt failed and a second one starts from scratch."""

    def fetched(self, jar_set: JarSet, folder: Path) -> None:
        """Report that the set is complete, verified and in its folder."""


class SilentProgress:
    """Says nothing."""

    def waiting(self, jar_set: JarSet) -> None:
        """Show nothing."""

    @contextmanager
    def fetching(self, jar_set: JarSet) -> Iterator[OnStep]:  # noqa: ARG002 - the protocol's name
        """Show nothing."""
        yield lambda _step, _coordinates: None

    def retrying(self, jar_set: JarSet, reasons: tuple[str, ...]) -> None:
        """Show nothing."""

    def fetched(self, jar_set: JarSet, folder: Path) -> None:
        """Show nothing."""


class ConsoleProgress:
    """Writes to a console: a live bar on a terminal, otherwise a few lines."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def waiting(self, jar_set: JarSet) -> None:
        """Show that another process is fetching."""
        self._line(f"{jar_set.name}: another process is fetching these jars; waiting for it")

    @contextmanager
    def fetching(self, jar_set: JarSet) -> Iterator[OnStep]:
        """Show how many jars Ivy has found and downloaded."""
        size_mb = jar_set.bytes / 1e6
        self._line(f"{jar_set.name}: fetching {len(jar_set.jars)} jars ({size_mb:.0f} MB), once")
        if self._console.is_terminal:
            with self._bar(jar_set) as on_step:
                yield on_step
        else:
            yield self._plain(jar_set)

    def retrying(self, jar_set: JarSet, reasons: tuple[str, ...]) -> None:
        """Show why the first attempt failed."""
        self._line(f"{jar_set.name}: failed ({'; '.join(reasons)}); retrying from scratch")

    def fetched(self, jar_set: JarSet, folder: Path) -> None:
        """Show where the jars are."""
        self._line(f"{jar_set.name}: {len(jar_set.jars)} jars verified, in {folder}")

    @contextmanager
    def _bar(self, jar_set: JarSet) -> Iterator[OnStep]:
        columns = (TextColumn("{task.description:>12}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeElapsedColumn(), console=self._console) as progress:
            total = len(jar_set.jars)
            tasks = {
                "found": progress.add_task("looked up", total=total),
                "downloaded": progress.add_task("downloaded", total=total),
            }
            yield lambda step, _coordinates: progress.advance(tasks[step])

    def _plain(self, jar_set: JarSet) -> OnStep:
        total = len(jar_set.jars)
        counts = {"found": 0, "downloaded": 0}
        words = {"found": "looked up", "downloaded": "downloaded"}

        def on_step(step: Step, _coordinates: str) -> None:
            counts[step] += 1
            if counts[step] % _PLAIN_EVERY == 0 or counts[step] == total:
                self._line(f"{jar_set.name}: {words[step]} {counts[step]} of {total}")

        return on_step

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
