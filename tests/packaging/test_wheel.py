"""What an installation gets: the rooms, the defaults, and nothing of the workshop."""

import subprocess
import sys
from pathlib import Path

import pytest

import fairlead
from fairlead.settings import load_settings
from tests.kit.awaiting import LONGEST_SECONDS
from tests.packaging.installed import build_wheel, install, unpack

ROOT = Path(__file__).resolve().parents[2]


def _build(project: Path, folder: Path) -> Path:
    """Build the wheel of a project and return the folder that it unpacks to."""
    unpacked = folder / "unpacked"
    unpack(build_wheel(project, folder), unpacked)
    return unpacked


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine's wheel, unpacked."""
    return _build(ROOT, tmp_path_factory.mktemp("engine"))


def _names(unpacked: Path) -> set[str]:
    """Return what the wheel puts at the top of site-packages."""
    return {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")}


def test_the_engine_installs_its_packages_alone(engine: Path) -> None:
    """The engine installs its four packages and nothing else at the top."""
    assert _names(engine) == {"fairlead", "strategies", "streaming", "sinks"}


def test_the_client_installs_one_package(tmp_path: Path) -> None:
    """The client installs one package."""
    assert _names(_build(ROOT / "client", tmp_path)) == {"fairlead_client"}


def test_the_proof_installs_one_package(tmp_path: Path) -> None:
    """The proof installs one package."""
    assert _names(_build(ROOT / "proof", tmp_path)) == {"fairlead_proof"}


def test_the_distributions_ask_for_their_own_release(tmp_path: Path) -> None:
    """Each distribution asks for the others of its own release: they share rooms."""
    version = fairlead.__version__
    for project in ("", "client", "proof"):
        (found,) = _build(ROOT / project, tmp_path / f"of-{project}").glob("*.dist-info/METADATA")
        lines = found.read_text("utf-8").splitlines()
        assert f"Version: {version}" in lines
        ours = [
            line.partition(";")[0] for line in lines if line.startswith("Requires-Dist: fairlead")
        ]
        assert [line.endswith(f"=={version}") for line in ours] == [True] * len(ours)
        assert bool(ours) == (project != "client")


def test_every_file_of_the_rooms_is_in_the_wheel(engine: Path) -> None:
    """Every file of the rooms is in the wheel, data files and type marker included."""
    rooms = ("fairlead", "strategies", "streaming", "sinks")
    kept = {
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {path.relative_to(engine).as_posix() for path in engine.rglob("*")}
    assert "fairlead/py.typed" in kept
    assert kept - packed == set()


def test_the_wheel_has_the_defaults_and_profiles(engine: Path, tmp_path: Path) -> None:
    """Away from the checkout, the wheel finds the same defaults and profiles in itself."""
    program = (
        f"import sys; sys.path.insert(0, {str(engine)!r})\n"
        "import fairlead; from fairlead.settings import load_settings\n"
        "print(fairlead.__file__); print(load_settings(profile='rocketmq').model_dump_json())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    origin, settings = done.stdout.splitlines()
    assert Path(origin).is_relative_to(engine)
    assert settings == load_settings(profile="rocketmq").model_dump_json()


def test_an_engine_without_the_proof_names_what_it_needs(tmp_path: Path) -> None:
    """An engine alone names its makers' tools, and says what they need when they are asked for."""
    python = install(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        program = "from fairlead.cli.main import main; main()"
        done = subprocess.run(
            [python, "-c", program, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_SECONDS,
            env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", "HOME": str(tmp_path)},
        )
        return done.returncode, done.stdout + done.stderr

    code, text = run("--help")
    assert code == 0
    assert "group" in text
    assert "demo" in text
    code, text = run("demo")
    assert (code, "pip install 'fairlead[proof]'" in text) == (3, True), text
    code, text = run("dmo")
    assert (code, "demo" in text) == (2, True), text
