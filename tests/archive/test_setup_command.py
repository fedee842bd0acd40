"""`fairlead setup` as a user runs it, and what the JVM then does with the archive."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fairlead.archive import (
    archived_share,
    broker_program,
    load_log_option,
    recording_options,
    spark_program,
    using_options,
)
from fairlead.broker import EmbeddedKafka, cluster, read_state
from fairlead.cli.operate import archive_training
from fairlead.cli.operate.archive_training import ARCHIVED_SHARE_MIN, ArchiveMaker
from fairlead.errors import EnvironmentMissingError, ExitCode
from fairlead.jars import cache_root, ensure_jars
from fairlead.jars.manifest import BROKER_SETS, JAR_SET_NAMES
from fairlead.java import find_java
from fairlead.wire.topics import TopicNames
from tests.kit.awaiting import child_process

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS_MAX = 500


def _makes_archives(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that runs a Spark job and a broker several times."""
    for mark in (pytest.mark.slow, pytest.mark.system, pytest.mark.spark, pytest.mark.broker):
        test = mark(test)
    return test


@pytest.fixture
def said() -> list[str]:
    """What the maker tells, line by line."""
    return []


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]) -> ArchiveMaker:
    """A maker of both archives in a cache of the test's own, which has none."""
    monkeypatch.setenv("FAIRLEAD_CACHE", str(_cache_with_jars(tmp_path)))
    return ArchiveMaker(find_java(), ensure_jars("connector"), _broker_jars(), said.append)


def _setup(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fairlead", "setup", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )


def _train(bootstrap: str, topics: TopicNames, java_options: tuple[str, ...], log: Path) -> float:
    """Run the training job; return the share of classes that came from an archive."""
    command = [sys.executable, "-m", "streaming.training"]
    command += ["--bootstrap", bootstrap, "--topic-prefix", topics.prefix]
    command += ["--jars", str(ensure_jars("connector"))]
    command += [f"--java-option={option}" for option in (*java_options, load_log_option(log))]
    environment = os.environ | {"JAVA_HOME": str(find_java().home)}
    answer = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )
    assert answer.returncode == 0, answer.stderr
    times = json.loads(answer.stdout.splitlines()[-1])
    assert 0 < times["session"] < times["whole"]
    return archived_share(log)


@pytest.mark.java
def test_setup_jars_names_every_folder() -> None:
    """Three sets, or the one that is asked for; a script reads folders on the standard output."""
    all_sets = _setup("jars")
    assert all_sets.returncode == ExitCode.OK
    lines = [line.split(": ", 1) for line in all_sets.stdout.splitlines()]
    assert [name for name, _ in lines] == list(JAR_SET_NAMES)
    assert all(list(Path(folder).glob("*.jar")) for _, folder in lines)
    assert _setup("jars", "--only", "connector").stdout.splitlines() == [
        f"connector: {ensure_jars('connector')}"
    ]


def test_the_session_maps_its_archive(spark_of_the_run: "SparkSession") -> None:
    """After `fairlead setup archive`, Spark's JVM takes its classes from there."""
    made = _setup("archive")
    assert made.returncode == ExitCode.OK, made.stderr
    jvm = spark_of_the_run.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # noqa: SLF001 - pyspark has no public way to its JVM
    assert str(_archives()[0]) in Path(f"/proc/{jvm}/maps").read_text("utf-8")


@_makes_archives
def test_the_archive_of_this_machine_is_used(
    bootstrap: str, topics: TopicNames, tmp_path: Path
) -> None:
    """After `fairlead setup archive`, most classes of a Spark job come from the archive."""
    made = _setup("archive")
    assert made.returncode == ExitCode.OK, made.stderr
    options = spark_program(ensure_jars("connector")).options(find_java())
    assert options != ()
    share = _train(bootstrap, topics, options, tmp_path / "classes.log")
    assert share >= ARCHIVED_SHARE_MIN


@pytest.mark.system
@pytest.mark.broker
def test_the_broker_maps_its_archive(tmp_path: Path) -> None:
    """After `fairlead setup archive`, the embedded broker takes its classes from there."""
    made = _setup("archive")
    assert made.returncode == ExitCode.OK, made.stderr
    with EmbeddedKafka(tmp_path / "kafka") as kafka:
        state = read_state(kafka.data_dir)
        assert state is not None
        (node,) = state.processes()
        maps = Path(f"/proc/{node.pid}/maps").read_text("utf-8")
    assert str(_archives()[1]) in maps


@pytest.mark.java
def test_a_damaged_archive_is_passed_over(tmp_path: Path) -> None:
    """The JVM starts without it and without a word, and no class comes from it."""
    damaged, log = tmp_path / "damaged.jsa", tmp_path / "classes.log"
    damaged.write_bytes(b"no archive" * 1_000)
    options = [*using_options(damaged), load_log_option(log)]
    command = [str(find_java().executable), *options, "--version"]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert archived_share(log) == 0.0
    assert log.stat().st_size > 0


@pytest.mark.java
def test_of_two_makers_one_waits_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one says that it waits, and takes what the first one made."""
    monkeypatch.setenv("FAIRLEAD_CACHE", str(_cache_with_jars(tmp_path)))
    paths = _archives()
    paths[0].parent.mkdir()
    command = [sys.executable, "-m", "fairlead", "setup", "archive"]
    with (paths[0].parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with child_process(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as second:
            assert second.stderr is not None
            assert "waiting for it" in second.stderr.readline()
            for path in paths:
                path.write_bytes(b"made by the first")
            fcntl.flock(lock, fcntl.LOCK_UN)
            output, _ = second.communicate(timeout=_SECONDS_MAX)
    assert second.returncode == ExitCode.OK
    assert output == "".join(f"archive: {path} exists\n" for path in paths)


def test_a_jvm_that_does_not_exit_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would write its archive at its exit: without one the error says so, and it is gone."""
    from pyspark import SparkContext

    from streaming import training

    command = [sys.executable, "-c", "import time; time.sleep(300)"]
    with child_process(command, stdin=subprocess.PIPE) as deaf:
        gateway = SimpleNamespace(proc=deaf, shutdown=lambda: None)
        monkeypatch.setattr(SparkContext, "_gateway", gateway)
        monkeypatch.setattr(SparkContext, "_jvm", None)
        monkeypatch.setattr(training, "_EXIT_SECONDS_MAX", 0.2)
        with pytest.raises(EnvironmentMissingError, match="did not exit"):
            training.leave_jvm()
    assert deaf.returncode == -signal.SIGKILL


@_makes_archives
def test_a_training_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the connector the job cannot start; the error has Spark's reason."""
    monkeypatch.setenv("FAIRLEAD_CACHE", str(_cache_with_jars(tmp_path)))
    (tmp_path / "empty").mkdir()
    maker = ArchiveMaker(find_java(), tmp_path / "empty", _broker_jars(), lambda _line: None)
    with pytest.raises(EnvironmentMissingError, match="kafka"):
        maker.make(measure=False)
    assert list(maker.spark.parent.glob("*.jsa*")) == []


@_makes_archives
def test_an_archive_is_made_once_and_measured(maker: ArchiveMaker, said: list[str]) -> None:
    """From a cache without one: it is made, proven, faster than without, and kept."""
    made = maker.make(measure=True)
    assert made is not None
    assert made.before is not None
    assert made.before.archived_share == 0.0
    assert made.after.archived_share >= ARCHIVED_SHARE_MIN
    assert made.after.session_s < made.before.session_s
    assert len(said) == 3
    assert maker.make(measure=True) is None


@_makes_archives
def test_an_archive_that_is_not_used_is_not_kept(
    maker: ArchiveMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command warns of a JVM that takes too little from its archive."""
    monkeypatch.setattr(archive_training, "ARCHIVED_SHARE_MIN", 1.1)
    with pytest.raises(EnvironmentMissingError, match="of the classes came from the archive"):
        maker.make(measure=False)
    assert list(maker.spark.parent.glob("*.jsa*")) == []


@_makes_archives
def test_an_older_archive_that_is_not_used_is_to_be_made_anew(maker: ArchiveMaker) -> None:
    """Only the broker's is missing, and Spark's is damaged: the error says what to do."""
    maker.spark.parent.mkdir()
    maker.spark.write_bytes(b"no archive" * 1_000)
    with pytest.raises(EnvironmentMissingError) as told:
        maker.make(measure=False)
    assert "--force" in str(told.value.remedy)
    assert not maker.broker.exists()


@_makes_archives
def test_a_broker_that_is_killed_leaves_no_archive(
    maker: ArchiveMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes its archive when it ends, and had no time to: Spark's is kept all the same."""
    monkeypatch.setattr(cluster, "STOP_SECONDS_MAX", 0.0)
    with pytest.raises(EnvironmentMissingError, match="the JVM wrote no archive"):
        maker.make(measure=False)
    assert list(maker.spark.parent.glob("*.jsa*")) == [maker.spark]


@_makes_archives
def test_an_archive_that_cannot_be_written_is_noticed(
    bootstrap: str, topics: TopicNames, tmp_path: Path
) -> None:
    """The JVM ends well although its archive could not be written: only the file tells."""
    nowhere = tmp_path / "missing" / "spark.jsa"
    assert _train(bootstrap, topics, recording_options(nowhere), tmp_path / "classes.log") == 0.0
    assert not nowhere.exists()


def _broker_jars() -> list[Path]:
    return [ensure_jars(name) for name in BROKER_SETS]


def _archives() -> list[Path]:
    programs = (spark_program(ensure_jars("connector")), broker_program(_broker_jars()))
    return [program.archive(find_java()) for program in programs]


def _cache_with_jars(tmp_path: Path) -> Path:
    """A cache of the test's own, with the jars of the real one and no archive."""
    for name in JAR_SET_NAMES:
        ensure_jars(name)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "jars").symlink_to(cache_root() / "jars")
    return cache
