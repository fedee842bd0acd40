"""Fetching jars with the real Ivy from a repository on loopback."""

import hashlib
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http import HTTPStatus
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from rich.console import Console

from fairlead.errors import EnvironmentMissingError
from fairlead.jars import Jar, JarFetcher, JarSet, JarStore, ivy
from fairlead.jars.ivy import Ivy, find_ivy
from fairlead.jars.progress import ConsoleProgress
from fairlead.jars.store import verify_folder
from fairlead.java import find_java
from tests.jars.repository import Repository

pytestmark = pytest.mark.java

CONTENTS = {"alpha": b"alpha " * 40_000, "beta": b"beta " * 10, "gamma": b"gamma"}


def _jar(module: str, content: bytes) -> Jar:
    return Jar("org.example", module, "1.0", hashlib.sha256(content).hexdigest(), len(content))


JARS = JarSet("example", tuple(_jar(module, content) for module, content in CONTENTS.items()))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A repository with the three jars, named to Ivy as a user would name it."""
    served = Repository()
    for jar in JARS.jars:
        served.add(jar, CONTENTS[jar.module])
    settings = tmp_path / "ivysettings.xml"
    monkeypatch.setenv("FAIRLEAD_IVY_SETTINGS", str(settings))
    with served.serve(settings):
        yield served


@pytest.fixture
def store(tmp_path: Path) -> JarStore:
    """An empty cache."""
    return JarStore(tmp_path / "cache")


@pytest.fixture
def told() -> io.StringIO:
    """What a user without a terminal reads."""
    return io.StringIO()


def _fetcher(store: JarStore, told: io.StringIO, found: Ivy | None = None) -> JarFetcher:
    progress = ConsoleProgress(Console(file=told, force_terminal=False))
    return JarFetcher(store, found or find_ivy(find_java()), progress)


def _leftovers(store: JarStore) -> list[str]:
    """Whatever is in the cache beside complete sets and locks."""
    return [path.name for path in store.jars.iterdir() if path.name.startswith((".st", ".ivy"))]


def test_a_set_is_fetched_once(repository: Repository, store: JarStore, told: io.StringIO) -> None:
    """The first call downloads every jar and shows it; the second asks nobody."""
    fetcher = _fetcher(store, told)
    folder = fetcher.fetch(JARS)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert found == {f"{module}-1.0.jar": content for module, content in CONTENTS.items()}
    assert "fetching 3 jars" in told.getvalue()
    assert "downloaded 3 of 3" in told.getvalue()
    asked = len(repository.requests)
    assert fetcher.fetch(JARS) == folder
    assert len(repository.requests) == asked
    assert _leftovers(store) == []


def test_a_terminal_shows_a_bar(repository: Repository, store: JarStore) -> None:
    """On a terminal both counts run to the end."""
    del repository
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    JarFetcher(store, find_ivy(find_java()), ConsoleProgress(console)).fetch(JARS)
    assert "looked up" in screen.getvalue()
    assert screen.getvalue().count("3/3") >= 2


def test_a_wrong_checksum_is_refused_by_name(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """A jar with other content is named, with the expected and the found sum, and not kept."""
    beta = JARS.jars[1]
    repository.add(beta, b"forged")
    with pytest.raises(EnvironmentMissingError, match=r"beta-1\.0\.jar") as error:
        _fetcher(store, told).fetch(JARS)
    assert beta.sha256 in error.value.message
    assert hashlib.sha256(b"forged").hexdigest() in error.value.message
    assert not store.folder(JARS).exists()
    assert repository.downloads(beta) == 1


def test_what_an_interrupted_fetch_left_is_not_trusted(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """A damaged file in Ivy's own cache costs a second attempt, and no failure."""
    fetcher = _fetcher(store, told)
    beta = JARS.jars[1]
    ivy_cache = store.jars / f".ivy-{JARS.folder_name}"
    fetcher.ivy.retrieve(JARS, ivy_cache, store.jars / "elsewhere", lambda _step, _name: None)
    damaged = next(ivy_cache.rglob("beta-1.0.jar"))
    damaged.write_bytes(b"half")
    fetcher.fetch(JARS)
    assert (store.folder(JARS) / beta.file_name).read_bytes() == CONTENTS["beta"]
    assert "retrying from scratch" in told.getvalue()
    assert repository.downloads(beta) == 2


def test_what_an_interrupted_fetch_brought_is_not_fetched_again(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """A jar that is complete in Ivy's cache is not downloaded a second time."""
    fetcher = _fetcher(store, told)
    ivy_cache = store.jars / f".ivy-{JARS.folder_name}"
    fetcher.ivy.retrieve(JARS, ivy_cache, store.jars / "elsewhere", lambda _step, _name: None)
    fetcher.fetch(JARS)
    assert [repository.downloads(jar) for jar in JARS.jars] == [1, 1, 1]


def test_a_failure_that_passes_is_tried_again(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """A repository that fails once for each file is asked again, and the set becomes complete."""
    failed: set[str] = set()

    def fail_once(path: str) -> HTTPStatus | None:
        if path.endswith("gamma-1.0.jar") and path not in failed:
            failed.add(path)
            return HTTPStatus.SERVICE_UNAVAILABLE
        return None

    repository.befall = fail_once
    folder = _fetcher(store, told).fetch(JARS)
    assert (folder / "gamma-1.0.jar").read_bytes() == CONTENTS["gamma"]
    assert "retrying from scratch" in told.getvalue()


def test_a_jar_that_is_not_there_is_named(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """Two attempts, then the name of the jar, the places to look and how to do without."""
    del repository.files["/org/example/gamma/1.0/gamma-1.0.jar"]
    del repository.files["/org/example/gamma/1.0/gamma-1.0.pom"]
    with pytest.raises(EnvironmentMissingError, match=r"'example'.*gamma.*not found") as error:
        _fetcher(store, told).fetch(JARS)
    assert "FAIRLEAD_IVY_SETTINGS" in error.value.remedy
    assert str(store.folder(JARS)) in error.value.remedy
    assert "retrying from scratch" in told.getvalue()
    assert not store.folder(JARS).exists()
    assert _leftovers(store) == []


def test_a_repository_that_says_nothing_is_given_up(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """A connection that neither answers nor fails ends after the time of silence."""
    released = threading.Event()

    def hang(_path: str) -> HTTPStatus:
        released.wait(60)
        return HTTPStatus.GONE

    repository.befall = hang
    found = find_ivy(find_java())
    impatient = Ivy(found.java, found.jar, found.settings, silence_seconds_max=2.0)
    try:
        with pytest.raises(EnvironmentMissingError, match="no answer for 2 s"):
            _fetcher(store, told, impatient).fetch(JARS)
    finally:
        released.set()


def test_without_a_network_the_remedy_is_told(
    store: JarStore, told: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be reached, Ivy's default settings end in an error that says what to do."""
    monkeypatch.delenv("FAIRLEAD_IVY_SETTINGS", raising=False)
    nowhere = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", nowhere)
    with pytest.raises(EnvironmentMissingError, match="Connection refused") as error:
        _fetcher(store, told).fetch(JARS)
    assert "JAVA_TOOL_OPTIONS" in error.value.remedy


def test_jars_copied_by_hand_are_taken(store: JarStore) -> None:
    """On a machine without a network a folder filled by hand counts, once it is complete."""
    folder = store.folder(JARS)
    folder.mkdir(parents=True)
    for jar in JARS.jars:
        assert not store.is_complete(JARS)
        (folder / jar.file_name).write_bytes(CONTENTS[jar.module])
    assert store.is_complete(JARS)


def test_a_jar_too_many_is_refused(store: JarStore) -> None:
    """A foreign jar would come onto the class path: it is named."""
    folder = store.folder(JARS)
    folder.mkdir(parents=True)
    for jar in JARS.jars:
        (folder / jar.file_name).write_bytes(CONTENTS[jar.module])
    (folder / "zeta-9.jar").write_bytes(b"")
    with pytest.raises(EnvironmentMissingError, match=r"zeta-9\.jar"):
        store.is_complete(JARS)


def test_a_half_filled_folder_is_filled(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """A folder from which a jar was lost is never taken for complete, but fetched again."""
    folder = _fetcher(store, told).fetch(JARS)
    (folder / "alpha-1.0.jar").unlink()
    assert not store.is_complete(JARS)
    _fetcher(store, told).fetch(JARS)
    assert store.is_complete(JARS)
    assert repository.downloads(JARS.jars[0]) == 2


def test_what_a_killed_fetch_left_is_removed(
    repository: Repository, store: JarStore, told: io.StringIO
) -> None:
    """The staging folder of a process that died goes with the next fetch."""
    del repository
    dead = store.jars / ".staging-example-abcd1234"
    dead.mkdir(parents=True)
    _fetcher(store, told).fetch(JARS)
    assert _leftovers(store) == []


_FETCH = """
import sys
from pathlib import Path
from rich.console import Console
from fairlead.jars import JarFetcher, JarStore
from fairlead.jars.ivy import find_ivy
from fairlead.jars.progress import ConsoleProgress
from fairlead.java import find_java
from tests.jars.test_fetch import JARS
progress = ConsoleProgress(Console(force_terminal=False))
JarFetcher(JarStore(Path(sys.argv[1])), find_ivy(find_java()), progress).fetch(JARS)
"""


def test_of_concurrent_callers_one_fetches(
    repository: Repository, store: JarStore, tmp_path: Path
) -> None:
    """Three processes ask at the same time: each jar is downloaded once and all three succeed."""
    del tmp_path
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", _FETCH, str(store.jars.parent)]
    environment = os.environ | {"PYTHONPATH": str(root)}
    processes = [
        subprocess.Popen(command, env=environment, cwd=root, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert [repository.downloads(jar) for jar in JARS.jars] == [1, 1, 1]
    assert sum("downloaded 3 of 3" in output for output in outputs) == 1
    assert sum("waiting for it" in output for output in outputs) == 2


def test_a_cache_that_cannot_be_written_is_named(
    told: io.StringIO, tmp_path: Path, repository: Repository
) -> None:
    """A file stands where the cache should be: the error names the folder and FAIRLEAD_CACHE."""
    del repository
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    with pytest.raises(EnvironmentMissingError, match="blocked") as error:
        _fetcher(JarStore(blocked), told).fetch(JARS)
    assert "FAIRLEAD_CACHE" in error.value.remedy


def test_a_jar_that_ivy_did_not_bring_is_named(tmp_path: Path) -> None:
    """Ivy can succeed with a jar too few; what it brought is counted."""
    (tmp_path / "alpha-1.0.jar").write_bytes(CONTENTS["alpha"])
    with pytest.raises(EnvironmentMissingError, match=r"beta-1\.0\.jar is missing"):
        verify_folder(tmp_path, JARS)


def test_without_pyspark_there_is_no_ivy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither an environment without pyspark nor a pyspark without jars goes unexplained."""
    monkeypatch.setattr(ivy, "find_spec", lambda _name: None)
    with pytest.raises(EnvironmentMissingError, match="pyspark is not installed"):
        find_ivy(find_java())
    bare = ModuleSpec("pyspark", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(ivy, "find_spec", lambda _name: bare)
    with pytest.raises(EnvironmentMissingError, match=r"holds no ivy-\*\.jar"):
        find_ivy(find_java())


def test_a_settings_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAIRLEAD_IVY_SETTINGS must name a file."""
    monkeypatch.setenv("FAIRLEAD_IVY_SETTINGS", "/nowhere/ivysettings.xml")
    with pytest.raises(EnvironmentMissingError, match=r"/nowhere/ivysettings\.xml is not a file"):
        find_ivy(find_java())
