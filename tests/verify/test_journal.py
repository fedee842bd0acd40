"""A journal survives its writer, and reading it forgives nothing but a torn last line."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fairlead.verify.history import Consumed, Epoch, Held, Start, Stop
from fairlead.verify.journal import JournalWriter, parse_record, read_journal
from tests.demo.recorded import queue

WRITE_UNTIL_KILLED = """
import sys
from pathlib import Path
from fairlead.verify.history import Epoch, Queue
from fairlead.verify.journal import JournalWriter
writer = JournalWriter(Path(sys.argv[1]))
queue = Queue("orders", "main", 0)
writer.start(queue, Epoch(1, 1), 0)
offset = 0
while True:
    writer.consumed(queue, offset, offset)
    if offset == 500:
        print("reached", flush=True)
    offset += 1
"""


def test_round_trip(tmp_path: Path) -> None:
    """Each kind of record is read back as it was written, with the time returned."""
    path = tmp_path / "c1.jsonl"
    with JournalWriter(path) as writer:
        times = [
            writer.start(queue(1), Epoch(2, 3), 10),
            writer.consumed(queue(1), 10, 1010),
            writer.held(queue(1), 11),
            writer.stop(queue(1), Epoch(2, 3), 11),
        ]
    journal = read_journal(path, "c1")
    assert journal.faults == ()
    assert journal.records == (
        Start(queue(1), Epoch(2, 3), 10, times[0]),
        Consumed(queue(1), 10, 1010, times[1]),
        Held(queue(1), 11, times[2]),
        Stop(queue(1), Epoch(2, 3), 11, times[3]),
    )
    assert times == sorted(times)


def test_survives_sigkill(tmp_path: Path) -> None:
    """Whatever was written before a SIGKILL is there after it, without a hole."""
    path = tmp_path / "killed.jsonl"
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    journal = read_journal(path, "killed")
    offsets = [record.offset for record in journal.records if isinstance(record, Consumed)]
    assert journal.faults == ()
    assert len(offsets) > 500
    assert offsets == list(range(len(offsets)))


def test_threads(tmp_path: Path) -> None:
    """Records of several threads stand in the order of their times, none torn."""
    path = tmp_path / "threads.jsonl"
    with JournalWriter(path) as writer:

        def write(number: int) -> None:
            for offset in range(200):
                writer.consumed(queue(number), offset, offset)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    journal = read_journal(path, "threads")
    times = [record.t_ns for record in journal.records]
    assert (journal.faults, len(times)) == ((), 800)
    assert times == sorted(times)


def test_torn_last_line(tmp_path: Path) -> None:
    """A last line cut off in the middle is what a death leaves, and no fault."""
    path = tmp_path / "torn.jsonl"
    with JournalWriter(path) as writer:
        writer.start(queue(0), Epoch(1, 1), 0)
        writer.consumed(queue(0), 0, 0)
    os.truncate(path, path.stat().st_size - 5)
    journal = read_journal(path, "torn")
    assert journal.faults == ()
    assert [type(record) for record in journal.records] == [Start]


def test_torn_in_the_middle(tmp_path: Path) -> None:
    """A damaged line that is not the last one is a fault, and the others are read all the same."""
    path = tmp_path / "damaged.jsonl"
    with JournalWriter(path) as writer:
        writer.start(queue(0), Epoch(1, 1), 0)
    with path.open("ab") as stream:
        stream.write(b'{"kind":"consumed","queue":["orders"\n')
    with JournalWriter(path) as writer:
        writer.consumed(queue(0), 0, 0)
    journal = read_journal(path, "damaged")
    assert len(journal.records) == 2
    assert len(journal.faults) == 1
    assert "damaged.jsonl line 2" in journal.faults[0]


@pytest.mark.parametrize(
    "line, error",
    [
        (b"not json", ValueError),
        (b'{"kind":"resumed"}', ValueError),
        (b'{"kind":"stop","queue":["a","b",1],"offset":1,"t":1}', KeyError),
        (b'{"kind":"held","queue":["a","b"],"offset":1,"t":1}', ValueError),
        (b'{"kind":"held","queue":7,"offset":1,"t":1}', TypeError),
    ],
    ids=["not_json", "unknown_kind", "missing_field", "short_queue", "wrong_type"],
)
def test_bad_lines(line: bytes, error: type[Exception]) -> None:
    """A line that is no record is refused."""
    with pytest.raises(error):
        parse_record(line)
