"""The package is brought by the machine's real apt, here from a repository in a folder."""

import fcntl
import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.errors import EnvironmentMissingError
from tests.kit.awaiting import LONGEST_SECONDS, child_process
from tools.prometheus import ensure_programs, find_program
from tools.prometheus.apt import AptPackage, unpack_all
from tools.prometheus.store import ProgramStore

ANSWER = "#!/bin/sh\necho '{name}, version {version} (branch: x, revision: y)'\n"


class Repository:
    """A repository of one package in a folder, and an apt that knows no other."""

    def __init__(self, root: Path) -> None:
        self.served = root / "served"
        self.served.mkdir()
        self.configuration = root / "apt.conf"
        sources = root / "sources.list"
        sources.write_text(f"deb [trusted=yes] file:{self.served} ./\n")
        (root / "lists" / "partial").mkdir(parents=True)
        places = {
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": root / "none",
            "Dir::State::Lists": root / "lists",
            "Dir::Cache": root / "cache",
        }
        text = "".join(f'{key} "{place}";\n' for key, place in places.items())
        self.configuration.write_text(text)

    def offer(self, version: str, programs: tuple[str, ...] = ("prometheus", "promtool")) -> Path:
        """Offer a package that holds programs of a version, and nothing else; return its file."""
        files = {"etc/prometheus.yml": "global: {}\n"} | {
            f"usr/bin/{name}": ANSWER.format(name=name, version=version) for name in programs
        }
        for old in self.served.glob("*.deb"):
            old.unlink()
        (self.served / "Packages").unlink(missing_ok=True)
        return self.add("prometheus", version, files)

    def add(self, name: str, version: str, files: Mapping[str, str], needs: str = "") -> Path:
        """Offer a package that holds files, beside what is on offer; return its file."""
        tree = self.served.parent / f"tree-{name}-{version}"
        for place, text in files.items():
            (tree / place).parent.mkdir(parents=True, exist_ok=True)
            (tree / place).write_text(text)
            (tree / place).chmod(0o755)
        control = (
            f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
            "Maintainer: nobody <nobody@example.org>\nDescription: for a test\n"
        ) + (f"Depends: {needs}\n" if needs else "")
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN" / "control").write_text(control)
        package = self.served / f"{name}_{version}_all.deb"
        command = ["dpkg-deb", "--root-owner-group", "--build", str(tree), str(package)]
        subprocess.run(command, check=True, capture_output=True, timeout=LONGEST_SECONDS)
        content = package.read_bytes()
        with (self.served / "Packages").open("a") as index:
            index.write(
                f"{control}Filename: ./{package.name}\nSize: {len(content)}\n"
                f"SHA256: {hashlib.sha256(content).hexdigest()}\n\n"
            )
        (self.served / "Packages.gz").write_bytes(
            gzip.compress((self.served / "Packages").read_bytes())
        )
        return package

    def read_lists(self) -> None:
        """Let apt read what is on offer now, as the machine's owner would."""
        environment = {**os.environ, "APT_CONFIG": str(self.configuration)}
        command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "update"]
        subprocess.run(
            command, env=environment, check=True, capture_output=True, timeout=LONGEST_SECONDS
        )


@pytest.fixture
def said() -> list[str]:
    """What the set-up says while it fetches programs."""
    return []


@pytest.fixture(scope="module")
def other_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of what apt needs, and no Prometheus."""
    kept = tmp_path_factory.mktemp("bin")
    for folder in ("/usr/sbin", "/sbin", "/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            if program.name not in ("prometheus", "promtool"):
                (kept / program.name).unlink(missing_ok=True)
                (kept / program.name).symlink_to(program)
    return kept


@pytest.fixture
def repository(tmp_path: Path, other_programs: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository, an empty cache, and no Prometheus on this machine."""
    made = Repository(tmp_path)
    monkeypatch.setenv("APT_CONFIG", str(made.configuration))
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path / "fairlead"))
    monkeypatch.delenv("PROMETHEUS", raising=False)
    monkeypatch.delenv("PROMTOOL", raising=False)
    monkeypatch.setenv("PATH", str(other_programs))
    return made


def test_the_programs_are_brought_once(
    repository: Repository, tmp_path: Path, said: list[str]
) -> None:
    """Both programs are unpacked and nothing else; after that nothing is asked of apt."""
    repository.offer("2.45.0")
    repository.read_lists()
    programs = ensure_programs(said.append)
    folder = tmp_path / "fairlead" / "prometheus" / "prometheus_2.45.0_all"
    assert programs == {name: folder / name for name in ("prometheus", "promtool")}
    assert sorted(folder.parent.rglob("*")) == sorted(
        [folder.parent / ".lock", folder, *programs.values()]
    )
    assert "reading" not in "".join(said)
    repository.configuration.write_text("nothing that apt could read {")
    said.clear()
    assert ensure_programs(said.append) == programs
    assert said == []
    assert find_program("promtool") == folder / "promtool"


def test_without_lists_apt_is_asked_once(repository: Repository, said: list[str]) -> None:
    """Where apt has never read what is on offer, it does so for us, and keeps nothing of it."""
    repository.offer("2.45.0")
    assert ensure_programs(said.append)["promtool"].is_file()
    assert "reading apt's lists anew" in said[0]
    lists = repository.configuration.parent / "lists"
    assert [path.name for path in lists.rglob("*")] == ["partial"]


def test_an_outdated_package_gives_way_to_its_successor(
    repository: Repository, said: list[str]
) -> None:
    """A package that the lists name and the mirror no longer has: its successor is taken."""
    repository.offer("2.45.0")
    repository.read_lists()
    repository.offer("2.46.0")
    assert ensure_programs(said.append)["promtool"].parent.name == "prometheus_2.46.0_all"


def test_a_file_with_another_checksum_is_not_unpacked(
    repository: Repository, tmp_path: Path, said: list[str]
) -> None:
    """A file that is not the one whose checksum apt knows is not unpacked."""
    package = repository.offer("2.45.0")
    package.write_bytes(package.read_bytes().replace(b"debian-binary", b"debian-bINARY"))
    with pytest.raises(EnvironmentMissingError, match=r"not fetched: .*(Hash Sum|unexpected size)"):
        ensure_programs(said.append)
    assert [path.name for path in (tmp_path / "fairlead" / "prometheus").iterdir()] == [".lock"]


def test_a_prometheus_that_is_too_old_is_named(repository: Repository, said: list[str]) -> None:
    """A distribution whose Prometheus is older than 2.42: the message says so, and the remedy."""
    repository.offer("2.24.1")
    for _ in range(2):
        with pytest.raises(EnvironmentMissingError, match=r"is version 2\.24; 2\.42 or") as told:
            ensure_programs(said.append)
    assert "PROMETHEUS and PROMTOOL" in told.value.remedy


def test_a_package_apt_does_not_have_is_named(repository: Repository, said: list[str]) -> None:
    """The error has apt's own reason, and what else can be done."""
    repository.offer("2.45.0", ("prometheus",))
    with pytest.raises(EnvironmentMissingError, match=r"holds no promtool") as told:
        ensure_programs(said.append)
    assert "set PROMETHEUS and PROMTOOL" in told.value.remedy
    for path in repository.served.iterdir():
        path.unlink()
    with pytest.raises(EnvironmentMissingError, match="not fetched: apt-get"):
        ensure_programs(said.append)


def test_with_what_it_needs(repository: Repository, tmp_path: Path, said: list[str]) -> None:
    """A package is brought with those that it needs and this machine lacks, its own last."""
    repository.add("shell", "1.0", {"usr/bin/shell": "run"}, needs="shell-parts, dpkg")
    repository.add("shell-parts", "1.0", {"usr/lib/part": "linked"})
    with AptPackage("shell", said.append, "none").fetched(tmp_path, whole=True) as files:
        assert [path.name for path in files] == ["shell-parts_1.0_all.deb", "shell_1.0_all.deb"]
        for path in files:
            unpack_all(path, tmp_path / "tree")
    assert (tmp_path / "tree" / "usr" / "lib" / "part").read_text() == "linked"
    assert (tmp_path / "tree" / "usr" / "bin" / "shell").read_text() == "run"
    assert not files[-1].exists()
    broken = tmp_path / "broken.deb"
    broken.write_text("no package")
    with (
        pytest.raises(EnvironmentMissingError, match=r"shell: not fetched: broken\.deb cannot be"),
        AptPackage("shell", said.append, "none").fetched(tmp_path),
    ):
        unpack_all(broken, tmp_path / "tree")


def test_without_apt_the_message_has_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    """Another distribution: one message with the remedy, for the set-up and for the tests."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path / "fairlead"))
    monkeypatch.delenv("PROMETHEUS", raising=False)
    monkeypatch.delenv("PROMTOOL", raising=False)
    with pytest.raises(EnvironmentMissingError, match="this machine has no apt-get"):
        ensure_programs(said.append)
    with pytest.raises(EnvironmentMissingError, match="promtool: there is none") as told:
        find_program("promtool")
    assert "python -m tools.prometheus" in told.value.remedy


def test_a_named_program_goes_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that a variable names goes before the cache; a wrong one is an error."""
    own = tmp_path / "promtool"
    monkeypatch.setenv("PROMTOOL", str(own))
    with pytest.raises(EnvironmentMissingError, match="PROMTOOL leads to"):
        find_program("promtool")
    own.write_text(ANSWER.format(name="promtool", version="3.5.0"))
    own.chmod(0o755)
    assert find_program("promtool") == own
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho I am something else\n")
    other.chmod(0o755)
    monkeypatch.setenv("PROMTOOL", str(other))
    with pytest.raises(EnvironmentMissingError, match="code 0 and said: I am something else"):
        find_program("promtool")


def test_a_program_on_the_path_is_taken_if_it_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's own is taken if it will do; an old one is passed over."""
    for variable in ("PROMETHEUS", "PROMTOOL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path / "fairlead"))
    for version in ("2.50.1", "2.15.2"):
        folder = tmp_path / version
        folder.mkdir()
        (folder / "promtool").write_text(ANSWER.format(name="promtool", version=version))
        (folder / "promtool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / '2.50.1'}:{os.environ['PATH']}")
    assert find_program("promtool") == tmp_path / "2.50.1" / "promtool"
    monkeypatch.setenv("PATH", str(tmp_path / "2.15.2"))
    with pytest.raises(EnvironmentMissingError, match="none on the PATH"):
        find_program("promtool")


def test_two_at_once(repository: Repository) -> None:
    """Of two set-ups at once the second says that it waits, and then has what the first one has."""
    repository.offer("2.45.0")
    store = ProgramStore(repository.configuration.parent / "fairlead" / "prometheus")
    store.folder.mkdir(parents=True)
    command = [sys.executable, "-m", "tools.prometheus"]
    with (store.folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with child_process(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as second:
            assert second.stderr is not None
            assert "waiting for it" in second.stderr.readline()
            folder = store.folder / "by-the-first"
            folder.mkdir()
            for name in ("prometheus", "promtool"):
                (folder / name).write_text(ANSWER.format(name=name, version="2.45.0"))
                (folder / name).chmod(0o755)
            fcntl.flock(lock, fcntl.LOCK_UN)
            output, errors = second.communicate(timeout=LONGEST_SECONDS)
    assert (second.returncode, errors) == (0, "")
    assert output == f"prometheus: {folder / 'prometheus'}\npromtool: {folder / 'promtool'}\n"


def test_the_programs_of_these_tests() -> None:
    """The tests of the alerts need both programs: without them this fails, and says what to do."""
    for name in ("prometheus", "promtool"):
        assert find_program(name).is_file()
