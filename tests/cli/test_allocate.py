"""`fairlead proof allocate` and `fairlead proof conform`, as a user runs them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app

RUN = CliRunner()


def test_a_table_shows_the_queues_of_each_client() -> None:
    """The table shows each client's queues; input is sorted first."""
    flags = ["-q", "orders/b/2", "-q", "orders/b/0-1", "-c", "z,a", "-s", "AVG_BY_CIRCLE"]
    ended = RUN.invoke(app, ["proof", "allocate", *flags])
    rows = [line.split() for line in ended.stdout.splitlines() if "orders" in line]
    assert rows == [["a", "2", "orders/b/0,2"], ["z", "1", "orders/b/1"]]


def test_queues_of_nobody_are_counted() -> None:
    """Queues that belong to nobody are counted."""
    flags = ["-q", "t/x@b/0-3", "-c", "a", "-s", "MACHINE_ROOM", "--options", '{"rooms":["y"]}']
    assert "4 of 4 queues belong to nobody" in RUN.invoke(app, ["proof", "allocate", *flags]).stdout


def test_orphans_are_told_once() -> None:
    """A queue that is given twice, or made up by CONFIG, is not counted against the others."""
    twice = ["-q", "t/b/0-1", "-q", "t/b/0-1", "-c", "a, b"]
    assert "belong to nobody" not in RUN.invoke(app, ["proof", "allocate", *twice]).stdout
    listed = ["-q", "t/b/0-5", "-c", "a", "-s", "CONFIG", "--options", '{"queues":[["t","b",77]]}']
    assert (
        "6 of 6 queues belong to nobody" in RUN.invoke(app, ["proof", "allocate", *listed]).stdout
    )


def test_clients_that_were_not_asked_for_are_left_out(tmp_path: Path) -> None:
    """Where a document asks for some clients only, nothing is said of who has the other queues."""
    path = tmp_path / "case.json"
    path.write_text('{"queues":[["t","b",0],["t","b",1]],"clients":["a","b"],"for":["b"]}')
    shown = RUN.invoke(app, ["proof", "allocate", "--case", str(path)]).stdout
    assert "t/b/1" in shown
    assert "belong to nobody" not in shown


def test_nothing_steers_the_terminal() -> None:
    """What would steer a terminal is written out in a table, and stands as it is in JSON."""
    flags = ["proof", "allocate", "-q", "t/b/0", "-c", "x\x1b[31m\U0001f600"]
    assert " x\\x1b[31m\U0001f600 " in RUN.invoke(app, flags).stdout
    shares = json.loads(RUN.invoke(app, [*flags, "-o", "jsonl"]).stdout)["result"]
    assert shares == {"x\x1b[31m\U0001f600": [["t", "b", 0]]}


def test_notes_of_a_strategy_stand_below_the_table() -> None:
    """The notes of a strategy stand below the table, and in the answer for programs."""
    options = {
        "effort": 0,
        "current": {"a": [["orders", "b", number] for number in range(4)]},
        "subscriptions": {"a": ["orders", "bills"], "z": ["orders"]},
    }
    flags = ["-q", "orders/b/0-3", "-q", "bills/b/0", "-c", "z,a", "-s", "STICKY"]
    ended = RUN.invoke(app, ["proof", "allocate", *flags, "--options", json.dumps(options)])
    assert "note: cut short after 0 steps: the balance may not be the best" in ended.stdout
    ended = RUN.invoke(
        app, ["proof", "allocate", *flags, "--options", json.dumps(options), "-o", "json"]
    )
    assert json.loads(ended.stdout)[0]["notes"][0].startswith("cut short")


def test_flags_win_over_the_document(tmp_path: Path) -> None:
    """A document has the fields of a case; flags win over it."""
    case = {"strategy": "AVG", "queues": [["t", "b", 1], ["t", "b", 0]], "clients": ["b"]}
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    ended = RUN.invoke(app, ["proof", "allocate", "--case", str(path), "-c", "a", "-o", "json"])
    assert json.loads(ended.stdout)[0]["result"] == {"a": [["t", "b", 0], ["t", "b", 1]]}


@pytest.mark.parametrize(
    "flags, said",
    [
        (["-c", "a"], "--queues: no queues given"),
        (["-q", "t/b/0"], "--clients: no clients given"),
        (["-q", "t/b", "-c", "a"], "'t/b' is no range of queues"),
        (["-q", "t/b/\u0663", "-c", "a"], "is no range of queues"),
        (["-q", "t/b/3-0", "-c", "a"], "'t/b/3-0' ends before it begins"),
        (["-q", f"t/b/0-{10**30}", "-c", "a"], "is too many"),
        (["-q", f"t/b/{2**31}", "-c", "a"], "bad_case: queues[0]: it must be [topic, broker_name"),
        (["-q", "t/b/0", "-c", "a", "-s", "NONE"], "unknown_strategy"),
        (["-q", "t/b/0", "-c", "a", "--options", "{"], "--options: it is no JSON"),
        (["-q", "t/b/0", "-c", "a", "-s", "CONFIG", "--options", '{"x":1}'], "bad_option: x"),
    ],
)
def test_a_mistake_is_named_by_its_flag(flags: list[str], said: str) -> None:
    """The refusal names the flag or option with the mistake."""
    ended = RUN.invoke(app, ["proof", "allocate", *flags])
    assert ended.exit_code != 0
    assert said in ended.output + str(ended.exception)


@pytest.mark.parametrize(
    "case, said",
    [
        ("", "--case: the standard input is no JSON"),
        ("[]", "--case: the standard input is no JSON object"),
        ('{"strategies": "STICKY"}', "--case: strategies: no such field"),
        ('{"kind": "sort_clients"}', "--case: kind: it is not allocate"),
        ('{"queues": 1, "clients": ["a"]}', "bad_case: queues: it must be a list"),
        ('{"strategy": "AVG", "queues": [["t", "b", 0]], "clients": [""]}', "client_id_empty"),
    ],
)
def test_mistakes_in_a_document(case: str, said: str) -> None:
    """The refusal names the field of the document, also on standard input."""
    ended = RUN.invoke(app, ["proof", "allocate", "--case", "-"], input=case)
    assert ended.exit_code != 0
    assert said in str(ended.exception)


def test_conform_answers_each_line() -> None:
    """Each line is answered; the exit code tells of lines that are no cases."""
    case = '{"id":1,"kind":"sort_clients","clients":["b","a"]}\n'
    good = RUN.invoke(app, ["proof", "conform"], input=case)
    assert (good.exit_code, json.loads(good.stdout)) == (0, {"id": 1, "result": ["a", "b"]})
    bad = RUN.invoke(app, ["proof", "conform"], input=f"x\n{case}")
    assert bad.exit_code == 2
    assert [json.loads(line)["id"] for line in bad.stdout.splitlines()] == [None, 1]
