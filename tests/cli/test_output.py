"""How results are written."""

import io
import json
import sys

import pytest

from fairlead.cli.render.output import OutputFormat, write_line, write_rows
from fairlead.cli.render.queue import queues_text

LONG_ID = "10.0.0.7@4121#" + "x" * 200
ROWS = [
    {"client_id": LONG_ID, "queues": 3, "zone": None, "hidden": [1, 2]},
    {"client_id": "[bold]b[/bold]", "queues": 12, "zone": "a", "hidden": []},
]
COLUMNS = ("client_id", "queues", "zone", "absent")


def test_json_is_one_document_with_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is one document with every field of every row."""
    write_rows(ROWS, COLUMNS, OutputFormat.JSON)
    assert json.loads(capsys.readouterr().out) == ROWS


SENTENCE = (
    "engine: no engine has ticked for 2 min, by this machine's clock: owners keep working, nothing "
    "is decided (fairlead run)"
)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("err", [False, True])
def test_a_sentence_on_a_terminal(monkeypatch: pytest.MonkeyPatch, *, err: bool) -> None:
    """It goes on in the next line where the terminal ends; written to a file it is one line."""
    monkeypatch.setenv("COLUMNS", "80")
    for kind, lines in ((_Terminal, 2), (io.StringIO, 1)):
        stream = kind()
        monkeypatch.setattr(sys, "stderr" if err else "stdout", stream)
        write_line(SENTENCE, err=err)
        found = stream.getvalue().splitlines()
        assert len(found) == lines
        assert " ".join(line.strip() for line in found) == SENTENCE
        assert lines == 1 or max(map(len, found)) <= 80


def test_jsonl_is_one_document_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lines is one document per row."""
    write_rows(ROWS, COLUMNS, OutputFormat.JSONL)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS


@pytest.mark.parametrize("output", [OutputFormat.JSON, OutputFormat.JSONL])
def test_json_steers_no_terminal(output: OutputFormat, capsys: pytest.CaptureFixture[str]) -> None:
    """Marks of direction, ends of lines and controls are written as numbers, and read back."""
    row = {"client_id": "a\u202eb\u2028c\u2029d\u2066e\x9b31mf\x7f\u200bg\U000e0041 \u00fc\u6d88"}
    write_rows([row], COLUMNS, output)
    written = capsys.readouterr().out
    assert "\\u202eb\\u2028c\\u2029d" in written
    assert written.replace("\n", "").isprintable()
    assert "\u00fc\u6d88" in written
    read = json.loads(written)
    assert (read[0] if output is OutputFormat.JSON else read) == row


def test_a_table_shows_the_named_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table shows the columns named, whole ids, plain text and a dash for what is missing."""
    monkeypatch.setenv("COLUMNS", "40")
    write_rows(ROWS, COLUMNS, OutputFormat.TABLE)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == list(COLUMNS)
    assert lines[2:] == [[LONG_ID, "3", "-", "-"], ["[bold]b[/bold]", "12", "a", "-"]]


@pytest.mark.parametrize("output, shown", [(OutputFormat.JSON, "[]\n"), (OutputFormat.JSONL, "")])
def test_no_rows_are_an_empty_document(
    output: OutputFormat, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
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
def test_runs_of_queues_are_ranges(numbers: list[int], text: str) -> None:
    """Queues stay in their order, and runs of three and more are ranges."""
    assert queues_text([("t", "b", number) for number in numbers]) == text


def test_numbers_stand_behind_their_broker() -> None:
    """Each broker's numbers stand behind it, once for each run of it."""
    queues = [("t", "a", 0), ("t", "b", 0), ("t", "a", 1)]
    assert queues_text(queues) == "t/a/0  t/b/0  t/a/1"
