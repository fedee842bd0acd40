"""`fairlead allocate` and `fairlead conform`, as a user runs them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app

RUN = CliRunner()


def test_table() -> None:
    """The table shows each client's queues; input is sorted first."""
    flags = ["-q", "orders/b/2", "-q", "orders/b/0-1", "-c", "z,a", "-s", "AVG_BY_CIRCLE"]
    ended = RUN.invoke(app, ["allocate", *flags])
    rows = [line.split() for line in ended.stdout.splitlines() if "orders" in line]
    assert rows == [["a", "2", "orders/b/0,2"], ["z", "1", "orders/b/1"]]


def test_orphans() -> None:
    """Queues that belong to nobody are counted."""
    flags = ["-q", "t/x@b/0-3", "-c", "a", "-s", "MACHINE_ROOM", "--options", '{"rooms":["y"]}']
    assert "4 of 4 queues belong to nobody" in RUN.invoke(app, ["allocate", *flags]).stdout


def test_document(tmp_path: Path) -> None:
    """A document has the fields of a case; flags win over it."""
    case = {"strategy": "AVG", "queues": [["t", "b", 1], ["t", "b", 0]], "clients": ["b"]}
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    ended = RUN.invoke(app, ["allocate", "--case", str(path), "-c", "a", "-o", "json"])
    assert json.loads(ended.stdout)[0]["result"] == {"a": [["t", "b", 0], ["t", "b", 1]]}


@pytest.mark.parametrize(
    "flags, said",
    [
        (["-c", "a"], "--queues: there are none"),
        (["-q", "t/b/0"], "--clients: there are none"),
        (["-q", "t/b", "-c", "a"], "'t/b' is no range of queues"),
        (["-q", "t/b/0", "-c", "a", "-s", "NONE"], "unknown_strategy"),
        (["-q", "t/b/0", "-c", "a", "--options", "{"], "--options: it is no JSON"),
        (["-q", "t/b/0", "-c", "a", "-s", "CONFIG", "--options", '{"x":1}'], "bad_option: x"),
    ],
)
def test_mistakes(flags: list[str], said: str) -> None:
    """A mistake is told by its flag or option."""
    ended = RUN.invoke(app, ["allocate", *flags])
    assert ended.exit_code != 0
    assert said in ended.output + str(ended.exception)


def test_conform() -> None:
    """Each line is answered; the exit code tells of lines that are no cases."""
    case = '{"id":1,"kind":"sort_clients","clients":["b","a"]}\n'
    good = RUN.invoke(app, ["conform"], input=case)
    assert (good.exit_code, json.loads(good.stdout)) == (0, {"id": 1, "result": ["a", "b"]})
    bad = RUN.invoke(app, ["conform"], input=f"x\n{case}")
    assert bad.exit_code == 2
    assert [json.loads(line)["id"] for line in bad.stdout.splitlines()] == [None, 1]
