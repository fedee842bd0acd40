"""The first line of a process behind one that was cut off may hold whatever a first line may."""

from pathlib import Path

import orjson
import pytest

from fairlead.verify.journal import read_journal

FIELDS: dict[str, dict[str, object]] = {
    "plain": {"kind": "opened", "client_id": "c1", "pid": 8, "t": 5},
    "more fields": {"kind": "opened", "client_id": "c1", "pid": 8, "t": 5, "host": {"zone": 1}},
    "more fields first": {"host": {"zone": 1}, "kind": "opened", "client_id": "c1", "pid": 8},
    "a brace in its name": {"kind": "opened", "client_id": "c{1}", "pid": 8, "t": 5},
}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("torn", [b"{", b'{"kind":"consu', b'{"kind":"held","more":{"at":'])
def test_a_torn_line_does_not_hide_the_next_process(tmp_path: Path, name: str, torn: bytes) -> None:
    """Fields that nobody asked for, and braces in words, do not hide the process."""
    path = tmp_path / "c1.jsonl"
    opened = orjson.dumps(FIELDS[name])
    path.write_bytes(b'{"kind":"opened","client_id":"c0"}\n' + torn + opened + b"\n")
    first, second = read_journal(path)
    assert (first.client_id, first.cut_off, first.faults) == ("c0", True, ())
    told = (second.client_id, second.pid, second.cut_off, second.faults)
    assert told == (FIELDS[name]["client_id"], 8, False, ())


@pytest.mark.parametrize("end, faults", [(b"", 1), (b"\n", 1)], ids=["no line feed", "line feed"])
def test_last_line_that_is_whole(tmp_path: Path, end: bytes, faults: int) -> None:
    """What ends with its brace was not cut off: a last line that says nothing hides nothing."""
    path = tmp_path / "c1.jsonl"
    line = b'{"kind":"consumed","queue":["orders","main",1],"offset":7,"t":5}'
    path.write_bytes(line + end)
    (journal,) = read_journal(path)
    assert (len(journal.faults), journal.cut_off) == (faults, False)
    assert "field 'number': it is missing" in journal.faults[0]
    path.write_bytes(line[:-1])
    (journal,) = read_journal(path)
    assert (journal.faults, journal.cut_off) == ((), True)
