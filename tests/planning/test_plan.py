"""What would move: worked out from a document, shown as a table or as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.planning.group_file import BadGroupError, read_group
from fairlead.planning.plan import plan

RUN = CliRunner()
GROUP: dict[str, Any] = {
    "group": "orders",
    "members": ["a", {"client_id": "b", "topics": ["orders"]}],
    "topics": {"orders": {"main": 6}},
}


def planned(tmp_path: Path, *flags: str, group: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the command and return its JSON."""
    path = tmp_path / "group.json"
    path.write_text(json.dumps(group or GROUP))
    ended = RUN.invoke(app, ["plan", "--file", str(path), *flags, "-o", "json"])
    assert ended.exit_code == 0, ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def counts(found: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Return the numbers of queues before and after of each member."""
    return {
        each["client_id"]: (len(each["before"]), len(each["after"])) for each in found["members"]
    }


def test_join_and_leave(tmp_path: Path) -> None:
    """Members of before and after are shown; the queues of the one who leaves move."""
    found = planned(tmp_path, "--join", "c", "--leave", "a")
    assert counts(found) == {"a": (3, 0), "b": (3, 3), "c": (0, 3)}
    assert found["moves"] == 6
    assert found["spread"] == {"before": 0, "after": 0}


def test_route(tmp_path: Path) -> None:
    """New queues are gained, and are no moves."""
    found = planned(tmp_path, "--route", "orders=8", "--strategy", "AVG_BY_CIRCLE")
    assert counts(found) == {"a": (3, 4), "b": (3, 4)}
    assert found["moves"] == 2


def test_owners_of_now(tmp_path: Path) -> None:
    """Who owns what now can be said; what nobody owns now is no move."""
    owned = {"b": [["orders", "main", number] for number in range(4)]}
    found = planned(tmp_path, group={**GROUP, "owned": owned})
    assert counts(found) == {"a": (0, 3), "b": (4, 3)}
    assert found["moves"] == 3


def test_failure_keeps(tmp_path: Path) -> None:
    """A topic that cannot be allocated keeps what it has."""
    found = planned(tmp_path, "--strategy", "MACHINE_ROOM_NEARBY", "--options", '{"room":"zone"}')
    assert (found["moves"], list(found["failures"])) == (0, ["orders"])


def test_table(tmp_path: Path) -> None:
    """The table names what each member gains and loses."""
    path = tmp_path / "group.json"
    path.write_text(json.dumps(GROUP))
    shown = RUN.invoke(app, ["plan", "--file", str(path), "--strategy", "AVG_BY_CIRCLE"]).stdout
    rows = [line.split() for line in shown.splitlines() if line.startswith((" a", " b"))]
    assert rows == [
        ["a", "3", "3", "orders/main", "4", "orders/main", "1"],
        ["b", "3", "3", "orders/main", "1", "orders/main", "4"],
    ]
    assert "moves: 2;" in shown


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--leave", "x"], "--leave: x is no member"),
        (["--join", "a"], "--join: a is a member"),
        (["--route", "orders"], "'orders' is no route"),
        (["--route", "nope=3"], "nope has brokers: none yet"),
        (["--strategy", "NONE"], "there is no strategy 'NONE'"),
        (["--options", "{"], "--options: it is no JSON"),
    ],
)
def test_mistakes(tmp_path: Path, flags: list[str], said: str) -> None:
    """A mistake is told by its flag."""
    path = tmp_path / "group.json"
    path.write_text(json.dumps(GROUP))
    ended = RUN.invoke(app, ["plan", "--file", str(path), *flags])
    assert ended.exit_code != 0
    assert said in ended.output + str(ended.exception)


@pytest.mark.parametrize(
    "wrong, path",
    [
        ({"topics": {}}, "topics:"),
        ({"topics": {"orders": {"main": -1}}}, "topics.orders.main:"),
        ({"members": "a"}, "members:"),
        ({"members": [7]}, "members:"),
        ({"owned": {"a": [["orders", 1]]}}, "owned.a:"),
        ({"owned": {"a": [["orders", "main", True]]}}, "owned.a:"),
        ({"options": 1}, "options:"),
    ],
)
def test_documents_that_cannot_be(wrong: dict[str, Any], path: str) -> None:
    """A document that is no group names the field."""
    with pytest.raises(BadGroupError, match=path):
        read_group({**GROUP, **wrong})


def test_no_change_moves_nothing() -> None:
    """A group that stays as it is moves nothing."""
    group = read_group(GROUP)
    assert plan(group, group).moves == 0
