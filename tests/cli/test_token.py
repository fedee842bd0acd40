"""`fairlead token`: what it writes into the access file, and what it shows."""

import re
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.access.access_edits import add_token
from fairlead.access.access_file import parse_access_file
from fairlead.access.authenticator import Presented
from fairlead.access.tokens import new_token
from fairlead.cli.main import main
from fairlead.errors import ExitCode
from tests.access.access_files import NOW, authenticator
from tests.answers.schema import assert_answers

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the access file is to be."""
    return tmp_path / "access.toml"


@pytest.fixture
def run(path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a verb of the command and returns its code and its words."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code: Any = 0
        try:
            main(["token", *arguments, "--file", str(path)])
        except SystemExit as end:
            code = end.code or 0
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def _made(run: Run, *arguments: str) -> dict[str, Any]:
    code, out, err = run("new", *arguments, "-o", "json")
    assert (code, err) == (0, "")
    (made,) = orjson.loads(out)
    return dict(made)


def test_a_new_token_proves_its_principal(run: Run, path: Path) -> None:
    """A new token stands in the file as a hash, for its owner alone, and the server takes it."""
    made = _made(run, "--group", "orders*", "--right", "consume", "--principal", "team")
    assert_answers("MadeToken", [made])
    text = path.read_text()
    assert made["token"] not in text
    assert made["token"].split("_", 2)[2] not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    team = authenticator(path).authenticate(Presented("x", made["token"]))
    assert team.name == "team"
    assert team.may("consume", "orders-7")
    assert not team.may("observe", "orders-7")


def test_json_is_alone_on_the_standard_output(run: Run) -> None:
    """Programs get the token in one document; people get it once, in words."""
    _, out, _ = run("new", "--group", "*", "--right", "observe", "-o", "jsonl")
    assert len(out.splitlines()) == 1
    _, out, _ = run("new", "--group", "*", "--right", "observe")
    assert len(re.findall(r"flt_[a-z0-9]+_[A-Za-z0-9_-]{43}\b", out)) == 1
    assert "shown once" in out


def test_a_principal_keeps_what_it_has(run: Run, path: Path) -> None:
    """Comments, rights and tokens of the file stay; new rights come beside them."""
    path.write_text(
        '# mine\n[[principal]]\nname = "team"  # the team\nconsume = ["a"]\n'
        '\n[principal.limits]\nsessions = 3\n\n[[principal]]\nname = "z" # last\n'
    )
    _made(run, "--principal", "team", "--group", "b", "--right", "consume", "--right", "observe")
    second = _made(run, "--principal", "team", "--expires", "30d", "--note", "laptop")
    text = path.read_text()
    for comment in ("# mine\n", "# the team\n", "# last\n"):
        assert comment in text
    team = parse_access_file(path).principals["team"]
    assert team.rights == {"observe": ("b",), "consume": ("a", "b"), "operate": ()}
    assert team.limits.sessions == 3
    _, record = parse_access_file(path).tokens[second["token_id"]]
    assert record.note == "laptop"
    assert record.expires is not None
    left = record.expires - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < left <= timedelta(days=30)


def test_list_shows_no_secret(run: Run, path: Path) -> None:
    """The list has every token, and neither a secret nor a hash."""
    made = _made(run, "--group", "*", "--right", "observe", "--note", "scrapes")
    _, record = parse_access_file(path).tokens[made["token_id"]]
    _, out, _ = run("list", "-o", "json")
    (listed,) = orjson.loads(out)
    assert_answers("Token", [listed])
    assert (listed["token_id"], listed["note"]) == (made["token_id"], "scrapes")
    _, table, _ = run("list")
    for text in (out, table):
        assert made["token_id"] in text
        assert record.hash not in text
        assert record.salt not in text


def test_a_revoked_token_is_gone(run: Run, path: Path) -> None:
    """A revoked token is gone from the file; its principal and other tokens stay."""
    first = _made(run, "--principal", "team", "--group", "*", "--right", "observe")
    second = _made(run, "--principal", "team")
    code, out, _ = run("revoke", first["token_id"], "-o", "json")
    assert code == 0
    assert_answers("Token", orjson.loads(out))
    assert list(parse_access_file(path).tokens) == [second["token_id"]]
    run("revoke", second["token_id"])
    assert list(parse_access_file(path).principals) == ["team"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["new"], "without rights"),
        (["new", "--group", "a"], "one is given without the other"),
        (["new", "--right", "consume"], "one is given without the other"),
        (["new", "--principal", "nobody"], "has no 'nobody'"),
        (["new", "--group", "a b", "--right", "consume"], "does not fit"),
        (["new", "--principal", "a b", "--group", "a", "--right", "consume"], "does not fit"),
        (["new", "--group", "a", "--right", "consume", "--expires", "soon"], "12h, 30d, 8w"),
        (["new", "--group", "a", "--right", "read"], "Invalid value for '--right'"),
        (["revoke", "nobody"], "has no token 'nobody'"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, path: Path, arguments: list[str], words: str) -> None:
    """What cannot be is refused with a remedy, and the file stays as it was."""
    path.write_text("# mine\n")
    code, out, err = run(*arguments)
    assert (code, out) == (ExitCode.USAGE, "")
    assert words in err
    assert path.read_text() == "# mine\n"


def test_a_wrong_file_is_left_alone(run: Run, path: Path) -> None:
    """A file that is wrong is not changed: the command says what is wrong with it."""
    path.write_text("x = 1\n")
    code, _, err = run("new", "--group", "a", "--right", "consume")
    assert code == ExitCode.USAGE
    assert f"{path}:1: x: unknown key" in err
    assert path.read_text() == "x = 1\n"


def test_commands_at_once_lose_nothing(path: Path) -> None:
    """Of commands that run at once, none takes back what another has written."""

    def add(number: int) -> None:
        add_token(path, f"p{number}", new_token(NOW)[1], ["observe"], ["*"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert len(parse_access_file(path).tokens) == 24
    assert [each.name for each in path.parent.iterdir()] == ["access.toml"]


def test_a_link_stays_a_link(run: Run, path: Path) -> None:
    """A file behind a link is replaced where it is."""
    target = path.with_name("real.toml")
    target.write_text("")
    path.symlink_to(target)
    _made(run, "--group", "*", "--right", "observe")
    assert path.is_symlink()
    assert len(parse_access_file(target).tokens) == 1
