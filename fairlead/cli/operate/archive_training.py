"""Makes the class-data archives: one run records them, another proves that Spark uses its own."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.archive import (
    archive_folder,
    archived_share,
    broker_program,
    load_log_option,
    recording_options,
    spark_program,
    using_options,
)
from fairlead.broker import EmbeddedKafka
from fairlead.errors import EnvironmentMissingError
from fairlead.jars.lock import locked
from fairlead.java import Java
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings

# A working archive has all of some twelve thousand classes but those made at run time.
ARCHIVED_SHARE_MIN: Final = 0.5
_RUN_SECONDS_MAX: Final = 300.0
_LOG_TAIL_LINES: Final = 15
# Each JVM and environment has its own: 180 MB for Spark, 50 MB for the broker.
_OTHERS_KEPT_MAX: Final = 2
_WITHOUT: Final = (
    "Fairlead runs without an archive, only its start is slower. A HotSpot JVM of 17 or later can"
    " write one."
)
_ANEW: Final = "An earlier run made it: make both again with `fairlead setup archive --force`."


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """The measures of one start of Spark.

    Attributes:
        session_s: seconds until the session stands.
        first_batch_s: seconds from there to the end of the first batch.
        archived_share: the share of classes from the archive, 0.0 to 1.0.
    """

    session_s: float
    first_batch_s: float
    archived_share: float

    @property
    def start_s(self) -> float:
        """Seconds from the start to the end of the first batch."""
        return self.session_s + self.first_batch_s


@dataclass(frozen=True, slots=True)
class ArchivesMade:
    """New archives.

    Attributes:
        paths: the new archives.
        before: a start of Spark without its archive, if measured.
        after: a start with it.
    """

    paths: tuple[Path, ...]
    before: TrainingRun | None
    after: TrainingRun


class ArchiveMaker:
    """Makes the archives of one JVM: for Spark, and for the embedded broker."""

    def __init__(
        self, java: Java, jars: Path, broker_jars: Sequence[Path], say: Callable[[str], None]
    ) -> None:
        """Prepare.

        Args:
            java: the JVM.
            jars: the folder of the connector jars.
            broker_jars: the folders of the broker's.
            say: gets a line about each step.
        """
        self._java = java
        self._jars = jars
        self._say = say
        self._programs = (spark_program(jars), broker_program(broker_jars))
        self.spark, self.broker = (program.archive(java) for program in self._programs)

    def missing(self) -> list[Path]:
        """Return the missing archives."""
        return [path for path in (self.spark, self.broker) if not path.is_file()]

    def make(self, *, measure: bool) -> ArchivesMade | None:
        """Make and prove what is missing; None if another process has made it.

        Args:
            measure: also measure a start without Spark's archive.

        Raises:
            EnvironmentMissingError: a run failed, or the JVM does not use its archive.
        """
        with _sole_maker(lambda: self._say("another process makes an archive; waiting for it")):
            missing = self.missing()
            if not missing:
                return None
            with tempfile.TemporaryDirectory(prefix="fairlead-archive-") as scratch:
                before, after = self._make(Path(scratch), missing, measure=measure)
            for program in self._programs:
                for old in program.other_archives(self._java)[_OTHERS_KEPT_MAX:]:
                    old.unlink(missing_ok=True)
        return ArchivesMade(tuple(missing), before, after)

    def _make(
        self, scratch: Path, missing: Sequence[Path], *, measure: bool
    ) -> tuple[TrainingRun | None, TrainingRun]:
        with _recorded(self.spark) as spark, _recorded(self.broker) as broker:
            wanted = broker if self.broker in missing else None
            with EmbeddedKafka(scratch / "kafka", recorded=wanted) as kafka:
                run = _Training(kafka.bootstrap, self._java, self._jars, scratch)
                before = None
                if measure:
                    self._say("a start without an archive")
                    before = run.once("without", ())
                proven = self.spark
                if self.spark in missing:
                    self._say("a start that records which classes Spark loads (half a minute)")
                    proven = spark
                    run.once("recording", recording_options(spark))
                    self._assert_written(spark)
                self._say("a start with the archive")
                after = run.once("with", using_options(proven))
                if after.archived_share < ARCHIVED_SHARE_MIN:
                    reason = f"only {after.archived_share:.0%} of the classes came from the archive"
                    made_now = self.spark in missing
                    raise _unusable(self._java, reason, _WITHOUT if made_now else _ANEW)
                proven.rename(self.spark)
            if wanted is not None:
                self._assert_written(broker)
                broker.rename(self.broker)
        return before, after

    def _assert_written(self, recorded: Path) -> None:
        if not recorded.is_file():
            raise _unusable(self._java, "the JVM wrote no archive")


@dataclass(frozen=True, slots=True)
class _Training:
    """Runs `streaming.training`."""

    bootstrap: str
    java: Java
    jars: Path
    scratch: Path

    def once(self, name: str, java_options: tuple[str, ...]) -> TrainingRun:
        """Run it in its own process, on its own topics."""
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
def _recorded(path: Path) -> Iterator[Path]:
    """Yield the file that becomes an archive; leave no half file behind."""
    # In the folder of its destination, so that a rename copies nothing.
    recorded = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield recorded
    finally:
        recorded.unlink(missing_ok=True)


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


def _unusable(java: Java, reason: str, remedy: str = _WITHOUT) -> EnvironmentMissingError:
    banner = java.banner.splitlines()[-1]
    return EnvironmentMissingError(f"archive: {reason} ({banner}).", remedy=remedy)
