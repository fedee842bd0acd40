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
def test_next_process(tmp_path: Path, name: str, torn: bytes) -> None:
    """Fields that nobody asked for, and braces in words, do not hide the process."""
    path = tmp_path / "c1.jsonl"
    opened = orjson.dumps(FIELDS[name])
    path.write_bytes(b'{"kind":"opened","client_id":"c0"}\n' + torn + opened + b"\n")
    first, second = read_journal(path)
    assert (first.client_id, first.cut_off, first.faults) == ("c0", True, ())
    told = (second.client_id, second.pid, second.cut_off, second.faults)
    assert told == (FIELDS[name]["client_id"], 8, False, ())
