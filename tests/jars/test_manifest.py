"""What the manifests pin."""

import hashlib
from pathlib import Path
from typing import get_args

import pytest

from fairlead.errors import EnvironmentMissingError
from fairlead.jars import cache_root, ensure_jars, load_jar_set
from fairlead.jars.manifest import JAR_SET_NAMES, JarSetName

# What `LC_ALL=C sha256sum *.jar | sha256sum` printed in a folder filled by Maven's own resolution
# of org.apache.kafka:kafka_2.13:4.3.1.
KAFKA_LISTING = "4815c97ff2e7a63916fab445a26ad0316234e77ed964aac9b74ba93c191691de"


def test_the_broker_is_what_kafka_resolves_to() -> None:
    """Forty-five jars, whose combined sum is the one that Maven's files have."""
    broker = load_jar_set("broker")
    assert len(broker.jars) == 45
    assert broker.listing_sha256 == KAFKA_LISTING


def test_the_connector_is_of_sparks_line() -> None:
    """The connector has the version of the pyspark that is installed; four jars go with it."""
    from importlib.metadata import version

    revisions = {jar.module: jar.revision for jar in load_jar_set("connector").jars}
    assert revisions == {
        "spark-sql-kafka-0-10_2.13": version("pyspark"),
        "spark-token-provider-kafka-0-10_2.13": "4.1.0-preview1",
        "kafka-clients": "3.9.2",
        "commons-pool2": "2.12.1",
        "hadoop-bare-naked-local-fs": "0.1.0",
    }


def test_sets_never_share_a_folder() -> None:
    """Two of them hold different versions of kafka-clients."""
    folders = [load_jar_set(name).folder_name for name in get_args(JarSetName)]
    assert len(set(folders)) == len(folders)


def test_a_set_up_fetches_what_the_engine_runs_on() -> None:
    """Every set but RocketMQ's and Kafka's own classes, and RocketMQ's servers."""
    asked = {"rocketmq", "rocketmq-4.7", "rocketmq-4.9.4", "kafka-assignors"}
    asked |= {"rocketmq-5", "rocketmq-5.1", "rocketmq-5.5", "rocketmq-spring"}
    asked |= {"rocketmq-server-4", "rocketmq-server-5"}
    assert {*JAR_SET_NAMES, *asked} == set(get_args(JarSetName))
    assert not asked & {*JAR_SET_NAMES}


@pytest.mark.java
@pytest.mark.parametrize(
    "name",
    [
        # The larger sets are those of comparisons alone.
        pytest.param(name, marks=pytest.mark.slow) if name.startswith("rocketmq") else name
        for name in get_args(JarSetName)
    ],
)
def test_fetched_jars_are_what_is_pinned(name: JarSetName) -> None:
    """The folder in the cache holds the pinned files, byte for byte, and their sizes are right."""
    folder = ensure_jars(name)
    jar_set = load_jar_set(name)
    listing = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.glob("*.jar"), key=lambda path: path.name.encode())
    )
    assert hashlib.sha256(listing.encode()).hexdigest() == jar_set.listing_sha256
    assert jar_set.bytes == sum(path.stat().st_size for path in folder.glob("*.jar"))


def test_the_cache_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """FAIRLEAD_CACHE, then XDG_CACHE_HOME, then the home folder."""
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_root() == tmp_path / "own"
    monkeypatch.delenv("FAIRLEAD_CACHE")
    assert cache_root() == tmp_path / "xdg" / "fairlead"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == tmp_path / "home" / ".cache" / "fairlead"


@pytest.mark.java
def test_a_damaged_jar_in_the_cache_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A jar that was changed after the fetch is named with both sums, and nothing is fetched."""
    original = ensure_jars("broker-logging")
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path))
    folder = tmp_path / "jars" / original.name
    folder.mkdir(parents=True)
    (jar,) = load_jar_set("broker-logging").jars
    content = (original / jar.file_name).read_bytes()
    (folder / jar.file_name).write_bytes(content[:-1] + b"x")
    with pytest.raises(EnvironmentMissingError, match=jar.sha256) as error:
        ensure_jars("broker-logging")
    assert jar.file_name in error.value.message
    assert str(folder) in error.value.remedy
