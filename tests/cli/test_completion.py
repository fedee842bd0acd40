"""Shells complete commands, options and values, through the scripts that they are given."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fairlead.cli.completions import complete_group, complete_strategy
from strategies.registry import STRATEGIES
from tests.kit.awaiting import LONGEST_SECONDS, ended
from tests.shells import ensure_shell

GROUPS = ("orders", "orders-late", "payments")


@pytest.fixture
def program(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which `fairlead` is a program, and home an empty folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "fairlead"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fairlead "$@"\n', encoding="ascii")
    script.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(home)}


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that tells some groups, as the view of all groups does."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/v1/groups" else 404)
            self.end_headers()
            groups = [{"group": name, "members": 2} for name in GROUPS]
            self.wfile.write(json.dumps({"groups": groups}).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("FAIRLEAD__SERVE__URL", url)
    yield url
    server.shutdown()
    ended(thread)
    server.server_close()


def _shell(shell: str, script: str, environment: Mapping[str, str]) -> list[str]:
    return ensure_shell(shell, print).lines(script, environment)


def _completed_by_bash(words: str, environment: Mapping[str, str]) -> list[str]:
    """Return what bash offers for the last of these words, by the script it was installed with."""
    given = words.split(" ")
    quoted = " ".join(f"'{word}'" for word in given)
    script = (
        'source "$HOME/.bash_completions/fairlead.sh"\n'
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(given) - 1}\n"
        '_fairlead_completion fairlead\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    return _shell("bash", script, environment)


def test_bash_completes_words_options_and_groups(program: Mapping[str, str], view: str) -> None:
    """What `--install-completion` gives to bash completes words, options and groups."""
    # The semicolon keeps the shell alive, so that it can be recognised.
    _shell("bash", "fairlead --install-completion; true", program)
    environment = {**program, "FAIRLEAD__SERVE__URL": view}
    assert _completed_by_bash("fairlead gro", environment) == ["group"]
    assert "--because" in _completed_by_bash("fairlead group set orders --b", environment)
    assert _completed_by_bash("fairlead group show ord", environment) == ["orders", "orders-late"]
    assert _completed_by_bash("fairlead group set orders --mode e", environment) == ["eager"]


@pytest.mark.parametrize(
    "shell, script",
    [
        # Outside of an interactive shell only the arguments of the function show.
        ("zsh", "_arguments() { print -- $1 }; compdef() { :; }; words=(fairlead gro); CURRENT=2"),
        ("fish", "fairlead --show-completion | source; complete -C 'fairlead gro'"),
    ],
)
def test_other_shells_complete_the_same(
    shell: str, script: str, program: Mapping[str, str]
) -> None:
    """Other shells are given scripts too, which complete the same."""
    if shell == "zsh":
        script += '; eval "$(fairlead --show-completion)"; _fairlead_completion'
    assert "group" in "\n".join(_shell(shell, script, program))


@pytest.mark.parametrize(
    "shell, variables, offered",
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "fairlead config s"}, ['"show":', '"schema":']),
        (
            "fish",
            {
                "_TYPER_COMPLETE_ARGS": "fairlead config s",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
            ["show\t", "schema\t"],
        ),
    ],
)
def test_words_are_offered_with_their_help(
    shell: str, variables: Mapping[str, str], offered: list[str], program: Mapping[str, str]
) -> None:
    """Asked as the scripts of other shells ask, the program offers words with their help."""
    done = subprocess.run(
        [sys.executable, "-m", "fairlead"],
        env={**program, "_FAIRLEAD_COMPLETE": f"complete_{shell}", **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    for word in offered:
        assert word in done.stdout


def test_groups_are_offered_from_the_view(view: str) -> None:
    """Groups come from the view; one that does not answer, or is none, offers nothing."""
    assert view
    assert complete_group("orders") == ["orders", "orders-late"]
    assert complete_group("x") == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "", "nonsense"])
def test_without_a_view_nothing_is_offered(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a view nothing is offered, and nothing is said."""
    monkeypatch.setenv("FAIRLEAD__SERVE__URL", url)
    assert complete_group("") == []


def test_strategies_are_offered_in_either_case() -> None:
    """Strategies are offered in either case."""
    assert complete_strategy("") == sorted(STRATEGIES)
    assert complete_strategy("st") == ["STICKY"]
