"""How results are written."""

import json

import pytest

from fairlead.cli.output import OutputFormat, queues_text, write_rows

LONG_ID = "10.0.0.7@4121#" + "x" * 200
ROWS = [
    {"client_id": LONG_ID, "queues": 3, "zone": None, "hidden": [1, 2]},
    {"client_id": "[bold]b[/bold]", "queues": 12, "zone": "a", "hidden": []},
]
COLUMNS = ("client_id", "queues", "zone", "absent")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is one document with every field of every row."""
    write_rows(ROWS, COLUMNS, OutputFormat.JSON)
    assert json.loads(capsys.readouterr().out) == ROWS


def test_jsonl(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lines is one document per row."""
    write_rows(ROWS, COLUMNS, OutputFormat.JSONL)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS


def test_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A table shows the columns named, whole ids, plain text and a dash for what is missing."""
    monkeypatch.setenv("COLUMNS", "40")
    write_rows(ROWS, COLUMNS, OutputFormat.TABLE)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == list(COLUMNS)
    assert lines[2:] == [[LONG_ID, "3", "-", "-"], ["[bold]b[/bold]", "12", "a", "-"]]


@pytest.mark.parametrize("output, shown", [(OutputFormat.JSON, "[]\n"), (OutputFormat.JSONL, "")])
def test_nothing(output: OutputFormat, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No rows are an empty document, or none."""
    write_rows([], COLUMNS, output)
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    "numbers, text",
    [
        ([], "-"),
        ([3], "t/b/3"),
        ([0, 1], "t/b/0,1"),
        ([0, 1, 2, 5, 7, 8, 9], "t/b/0-2,5,7-9"),
        ([3, 2, 1, 1], "t/b/3,2,1,1"),
    ],
)
def test_queues(numbers: list[int], text: str) -> None:
    """Queues stay in their order, and runs of three and more are ranges."""
    assert queues_text([("t", "b", number) for number in numbers]) == text


def test_brokers() -> None:
    """Each broker's numbers stand behind it, once for each run of it."""
    queues = [("t", "a", 0), ("t", "b", 0), ("t", "a", 1)]
    assert queues_text(queues) == "t/a/0  t/b/0  t/a/1"
