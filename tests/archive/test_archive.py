"""Which archive fits, and which options the JVM gets for it; no JVM runs here."""

import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead import archive
from fairlead.archive import (
    archive_folder,
    archived_share,
    broker_program,
    recording_options,
    spark_program,
    using_options,
)
from fairlead.errors import EnvironmentMissingError
from fairlead.java import Java

JAVA = Java(Path("/jdk/bin/java"), Path("/jdk"), 'openjdk version "17.0.15"', 17)


def archive_path(java: Java, jars: Path) -> Path:
    """Where Spark's archive is for this JVM and these jars."""
    return spark_program(jars).archive(java)


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a connector jar, an installation of Spark with another, an empty cache."""
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    for folder in (tmp_path / "connector", tmp_path / "spark" / "jars"):
        folder.mkdir(parents=True)
        (folder / "one.jar").write_bytes(b"one")
    return tmp_path / "connector"


def test_the_name_is_the_same_for_the_same(jars: Path) -> None:
    """Two looks at one JVM and one class path lead to one file, in the cache."""
    assert archive_path(JAVA, jars) == archive_path(JAVA, jars)
    assert archive_path(JAVA, jars).parent == archive_folder()


def test_another_java_needs_another_archive(jars: Path) -> None:
    """Another build, or the same build elsewhere, does not fit."""
    other_build = replace(JAVA, banner='openjdk version "17.0.16"')
    elsewhere = replace(JAVA, home=Path("/opt/jdk"))
    paths = {archive_path(java, jars) for java in (JAVA, other_build, elsewhere)}
    assert len(paths) == 3


def test_another_class_path_needs_another_archive(jars: Path, tmp_path: Path) -> None:
    """A jar that is new, larger, or written again changes the name, as the JVM would refuse it."""
    spark = tmp_path / "spark" / "jars"
    paths = [archive_path(JAVA, jars)]
    (spark / "two.jar").write_bytes(b"two")
    paths.append(archive_path(JAVA, jars))
    (spark / "two.jar").write_bytes(b"twice")
    paths.append(archive_path(JAVA, jars))
    os.utime(jars / "one.jar", ns=(1, 1))
    paths.append(archive_path(JAVA, jars))
    assert len(set(paths)) == 4


def test_without_pyspark_there_is_nothing_to_archive(
    jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class path starts with Spark's own jars: without them the error says what to install."""
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setattr(archive, "find_spec", lambda _name: None)
    with pytest.raises(EnvironmentMissingError, match="pyspark is not installed"):
        archive_path(JAVA, jars)


@pytest.mark.java
def test_options_are_given_only_for_an_archive_that_is_there(jars: Path) -> None:
    """Without a fitting file the JVM gets no option; with one, to use it and to keep quiet."""
    from fairlead.java import find_java

    java = find_java()
    assert spark_program(jars).options(java) == ()
    path = archive_path(java, jars)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    options = spark_program(jars).options(java)
    assert options[0] == f"-XX:SharedArchiveFile={path}"
    assert "-Xshare:auto" in options


def test_the_options_name_the_file() -> None:
    """The JVM writes it at its exit, or takes classes from it."""
    path = Path("/a b/c.jsa")
    assert using_options(path)[0] == "-XX:SharedArchiveFile=/a b/c.jsa"
    assert recording_options(path)[0] == "-XX:ArchiveClassesAtExit=/a b/c.jsa"


def test_a_path_with_a_space_is_quoted_for_spark() -> None:
    """Spark splits the options of the JVM at spaces; an option without any is left as it is."""
    from fairlead.settings import load_settings
    from streaming.session import spark_settings

    options = (*using_options(Path("/a b/c.jsa")), *recording_options(Path("/a b/d.jsa")))
    given = spark_settings(load_settings().engine, Path("/jars"), options)
    told = given["spark.driver.extraJavaOptions"]
    assert ' "-XX:SharedArchiveFile=/a b/c.jsa" -Xshare:auto ' in told
    assert ' "-XX:ArchiveClassesAtExit=/a b/d.jsa" -Xshare:auto ' in told
    assert shlex.split(told)[-len(options) :] == list(options)


def test_the_share_counts_the_archive_on_top_alone(tmp_path: Path) -> None:
    """Classes of the JVM's own archive, of jars and those made at run time are not ours."""
    log = tmp_path / "classes.log"
    log.write_text(
        "java.lang.Object source: shared objects file\n"
        "org.apache.spark.SparkContext source: shared objects file (top)\n"
        "org.example.Lambda$1 source: org.example.Lambda\n"
        "org.example.Fresh source: file:/jars/one.jar\n"
        "something else altogether\n"
    )
    assert archived_share(log) == 0.25
    log.write_text("")
    assert archived_share(log) == 0.0


def test_older_archives_are_listed_the_newest_first(jars: Path) -> None:
    """What may be removed when another one has been made, of the same program."""
    program = spark_program(jars)
    own = program.archive(JAVA)
    own.parent.mkdir(parents=True)
    for second, name in enumerate(("spark-a.jsa", own.name, "spark-c.jsa", "broker-d.jsa")):
        (own.parent / name).write_bytes(b"")
        os.utime(own.parent / name, (second, second))
    assert [path.name for path in program.other_archives(JAVA)] == ["spark-c.jsa", "spark-a.jsa"]
    assert [path.name for path in broker_program([jars]).other_archives(JAVA)] == ["broker-d.jsa"]
