"""Makes the class-data archive: a training run that records it, and one that proves it is used."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.archive import (
    archive_folder,
    archive_path,
    archived_share,
    load_log_option,
    other_archives,
    recording_options,
    using_options,
)
from fairlead.broker import EmbeddedKafka
from fairlead.errors import EnvironmentMissingError
from fairlead.jars.lock import locked
from fairlead.java import Java
from fairlead.settings import load_settings
from fairlead.topics import create_topics, topic_specs

# Of some twelve thousand classes all but those made at run time are in an archive that works.
ARCHIVED_SHARE_MIN: Final = 0.5
_RUN_SECONDS_MAX: Final = 300.0
_LOG_TAIL_LINES: Final = 15
# One for each JVM and each environment on this machine; 180 MB each.
_OTHERS_KEPT_MAX: Final = 2


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """One start of Spark, as it was measured.

    Attributes:
        session_s: until the session stood, in seconds.
        first_batch_s: from there until the first batch was done, in seconds.
        archived_share: the share of classes that came from the archive, 0.0 to 1.0.
    """

    session_s: float
    first_batch_s: float
    archived_share: float

    @property
    def start_s(self) -> float:
        """From the start to the end of the first batch, in seconds."""
        return self.session_s + self.first_batch_s


@dataclass(frozen=True, slots=True)
class ArchiveMade:
    """A new archive.

    Attributes:
        path: the archive.
        bytes: its size.
        before: a start without it (None if that was not measured).
        after: a start with it.
    """

    path: Path
    bytes: int
    before: TrainingRun | None
    after: TrainingRun


class ArchiveMaker:
    """Makes the archive of one JVM and one class path."""

    def __init__(self, java: Java, jars: Path, say: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            java: the JVM.
            jars: the folder of the connector jars.
            say: told what is being done, a line each time.
        """
        self.path = archive_path(java, jars)
        self._java = java
        self._jars = jars
        self._say = say

    def make(self, *, measure: bool) -> ArchiveMade | None:
        """Make and prove the archive; None if another process did so meanwhile.

        Args:
            measure: also measure a start without it.

        Raises:
            EnvironmentMissingError: a run failed, or the JVM does not use what it wrote.
        """
        with _sole_maker(lambda: self._say("another process makes an archive; waiting for it")):
            if self.path.is_file():
                return None
            with tempfile.TemporaryDirectory(prefix="fairlead-archive-") as scratch:
                made = self._make(Path(scratch), measure=measure)
            for old in other_archives(self.path)[_OTHERS_KEPT_MAX:]:
                old.unlink(missing_ok=True)
        return made

    def _make(self, scratch: Path, *, measure: bool) -> ArchiveMade:
        # In the folder of its destination, or the rename would be a copy.
        recorded = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with EmbeddedKafka(scratch / "kafka") as kafka, _removed(recorded):
            run = _Training(kafka.bootstrap, self._java, self._jars, scratch)
            before = None
            if measure:
                self._say("a start without an archive")
                before = run.once("without", ())
            self._say("a start that records which classes Spark loads (about half a minute)")
            run.once("recording", recording_options(recorded))
            if not recorded.is_file():
                raise _unusable(self._java, "the JVM wrote no archive")
            self._say("a start with the archive")
            after = run.once("with", using_options(recorded))
            if after.archived_share < ARCHIVED_SHARE_MIN:
                found = f"only {after.archived_share:.0%} of the classes came from the archive"
                raise _unusable(self._java, found)
            recorded.rename(self.path)
        return ArchiveMade(self.path, self.path.stat().st_size, before, after)


@dataclass(frozen=True, slots=True)
class _Training:
    """How `streaming.training` is run."""

    bootstrap: str
    java: Java
    jars: Path
    scratch: Path

    def once(self, name: str, java_options: tuple[str, ...]) -> TrainingRun:
        """Run it in a process of its own, on topics of its own."""
        prefix = f"training-{name}."
        settings = load_settings()
        create_topics({"bootstrap_servers": self.bootstrap}, prefix, topic_specs(settings.topics))
        class_log = self.scratch / f"{name}-classes.log"
        command = [sys.executable, "-m", "streaming.training"]
        command += ["--bootstrap", self.bootstrap, "--topic-prefix", prefix]
        command += ["--jars", str(self.jars)]
        for option in (*java_options, load_log_option(class_log)):
            command.append(f"--java-option={option}")
        environment = os.environ | {"JAVA_HOME": str(self.java.home)}
        try:
            process = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                check=True,
                timeout=_RUN_SECONDS_MAX,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise _failed(name, error) from error
        times = json.loads(process.stdout.splitlines()[-1])
        return TrainingRun(times["session"], times["first_batch"], archived_share(class_log))


@contextlib.contextmanager
def _sole_maker(on_wait: Callable[[], None]) -> Iterator[None]:
    folder = archive_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", on_wait):
        yield


@contextlib.contextmanager
def _removed(path: Path) -> Iterator[None]:
    """Leave no half archive behind, however this ends."""
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _failed(
    name: str, error: subprocess.CalledProcessError | subprocess.TimeoutExpired
) -> EnvironmentMissingError:
    output = error.stderr or ""
    text = output if isinstance(output, str) else output.decode("utf-8", "replace")
    tail = "\n".join(text.splitlines()[-_LOG_TAIL_LINES:])
    return EnvironmentMissingError(
        f"archive: the training run {name!r} did not succeed. It ended:\n{tail}",
        remedy="Fairlead runs without an archive, only its start is slower.",
    )


def _unusable(java: Java, reason: str) -> EnvironmentMissingError:
    return EnvironmentMissingError(
        f"archive: {reason} ({java.banner.splitlines()[-1]}).",
        remedy="Fairlead runs without an archive, only its start is slower. A HotSpot JVM of 17 or "
        "later can write one.",
    )
