"""A journal survives its writer, and reading it forgives nothing but a torn last line."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.core.model import Epoch
from fairlead.errors import UsageError
from fairlead.verify.fault_log import read_faults
from fairlead.verify.history import Committed, Consumed, Failed, Held, Passed, Start, Stop
from fairlead.verify.journal import JournalWriter, parse_record, read_journal, read_journals
from fairlead.verify.line_fields import LineError
from tests.kit.awaiting import child_process, ended
from tests.kit.recorded_history import queue

WRITE_UNTIL_KILLED = """
import sys
from pathlib import Path
from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.journal import JournalWriter
writer = JournalWriter(Path(sys.argv[1]))
queue = MessageQueue("orders", "main", 0)
writer.start(queue, Epoch(1, 1), 0)
offset = 0
while True:
    writer.consumed(queue, offset, offset)
    if offset == 500:
        print("reached", flush=True)
    offset += 1
"""


def test_each_journal_record_is_read_back(tmp_path: Path) -> None:
    """Each kind of record is read back as it was written, with the time returned."""
    path = tmp_path / "c1.jsonl"
    with JournalWriter(path) as writer:
        times = [
            writer.start(queue(1), Epoch(2, 3), 10),
            writer.consumed(queue(1), 10, 1010),
            writer.held(queue(1), 11),
            writer.held(queue(1), 11, 5),
            writer.failed(queue(1), 11),
            writer.passed(queue(1), 11, 2, "sent_back"),
            writer.committed(queue(1), 16),
            writer.stop(queue(1), Epoch(2, 3), 16),
        ]
    (journal,) = read_journal(path)
    assert journal.faults == ()
    assert journal.records == (
        Start(queue(1), Epoch(2, 3), 10, times[0]),
        Consumed(queue(1), 10, 1010, times[1]),
        Held(queue(1), 11, times[2]),
        Held(queue(1), 11, times[3], 5),
        Failed(queue(1), 11, times[4]),
        Passed(queue(1), 11, 2, "sent_back", times[5]),
        Committed(queue(1), 16, times[6]),
        Stop(queue(1), Epoch(2, 3), 16, times[7]),
    )
    assert times == sorted(times)


def test_a_journal_survives_a_sigkill(tmp_path: Path) -> None:
    """Whatever was written before a SIGKILL is there after it, without a hole."""
    path = tmp_path / "killed.jsonl"
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(path)]
    with child_process(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    (journal,) = read_journal(path)
    offsets = [record.offset for record in journal.records if isinstance(record, Consumed)]
    assert journal.faults == ()
    assert len(offsets) > 500
    assert offsets == list(range(len(offsets)))


def test_records_of_threads_stand_in_order(tmp_path: Path) -> None:
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
            ended(thread)
    (journal,) = read_journal(path)
    times = [record.t_ns for record in journal.records]
    assert (journal.faults, len(times)) == ((), 800)
    assert times == sorted(times)


def test_a_torn_last_line_is_no_fault(tmp_path: Path) -> None:
    """A last line cut off in the middle is what a death leaves, and no fault."""
    path = tmp_path / "torn.jsonl"
    with JournalWriter(path) as writer:
        writer.start(queue(0), Epoch(1, 1), 0)
        writer.consumed(queue(0), 0, 0)
    os.truncate(path, path.stat().st_size - 5)
    (journal,) = read_journal(path)
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
    (journal,) = read_journal(path)
    assert len(journal.records) == 2
    assert len(journal.faults) == 1
    assert "damaged.jsonl line 2" in journal.faults[0]


@pytest.mark.parametrize(
    "line, told",
    [
        (b"not json", "give one JSON object on a line"),
        (b"[]", r"\[\] is no object"),
        (b'{"kind":"resumed"}', "field 'kind': 'resumed' is unknown; give one of start, held,"),
        (b'{"kind":"stop","queue":["a","b",1],"offset":1,"t":1}', "field 'epoch': it is missing"),
        (b'{"kind":"held","queue":["a","b"],"offset":1,"t":1}', "field 'queue': .* is no queue"),
        (b'{"kind":"held","queue":7,"offset":1,"t":1}', "field 'queue': 7 is no queue"),
        (
            b'{"kind":"held","queue":["a","b",1],"offset":"1","t":1}',
            "field 'offset': '1' is not allowed",
        ),
        (
            b'{"kind":"held","queue":["a","b",1],"offset":-1,"t":1}',
            "field 'offset': -1 is not allowed",
        ),
        (
            b'{"kind":"held","queue":["a","b",1],"offset":1,"t":1.5}',
            "field 't': 1.5 is not allowed",
        ),
        (b'{"kind":"held","queue":["a","b",1],"offset":1,"t":1,"count":0}', "field 'count'"),
        (b'{"kind":"passed","queue":["a","b",1],"offset":1,"t":1,"why":""}', "field 'why'"),
        (b'{"kind":"held","queue":["' + b"a" * 70_000 + b'"]}', "65,536 at most"),
    ],
)
def test_a_line_that_is_no_record_is_refused(line: bytes, told: str) -> None:
    """A line that is no record is refused: with the field, and with what it should be."""
    with pytest.raises(LineError, match=told):
        parse_record(line)


def test_bad_line_of_a_folder(tmp_path: Path) -> None:
    """Nothing is judged while a line cannot be read: file, line and field are named."""
    lines = b'{"kind":"opened","client_id":"c1","t":5}\n{"kind":"stop"}\n\n'
    (tmp_path / "c1.jsonl").write_bytes(lines)
    with pytest.raises(
        UsageError, match=r"c1\.jsonl line 2: field 'queue': it is missing"
    ) as raised:
        read_journals(tmp_path)
    assert "In all 2 lines" in str(raised.value)
    assert "docs/journals.md" in raised.value.remedy


def test_processes_of_a_file(tmp_path: Path) -> None:
    """A file may hold one process after the other, each from a line of kind opened on."""
    path = tmp_path / "c1.jsonl"
    for _ in range(2):
        with JournalWriter(path, client_id="of-the-line") as writer:
            writer.start(queue(1), Epoch(2, 3), 10)
    journals = read_journal(path)
    assert [(each.client_id, each.pid, len(each.records)) for each in journals] == [
        ("of-the-line", os.getpid(), 1)
    ] * 2
    assert all(each.begun_ns == each.opened_ns is not None for each in journals)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    """What is no regular file is refused by name, and neither waited for nor followed."""
    make(tmp_path / "c1.jsonl")
    with pytest.raises(UsageError, match=r"c1.jsonl: it is a (FIFO|symbolic link)"):
        read_journals(tmp_path)
    with pytest.raises(UsageError, match=r"c1.jsonl: it is a (FIFO|symbolic link)"):
        read_faults(tmp_path / "c1.jsonl")


def test_next_process_behind_a_line_that_was_cut_off(tmp_path: Path) -> None:
    """A process that was killed as it wrote leaves no line feed, and the next one writes on."""
    path = tmp_path / "c1.jsonl"
    with JournalWriter(path, client_id="c1") as writer:
        writer.start(queue(1), Epoch(2, 3), 10)
        writer.consumed(queue(1), 10, 10)
    path.write_bytes(path.read_bytes()[:-9])
    with JournalWriter(path, client_id="c1") as writer:
        writer.start(queue(1), Epoch(2, 4), 10)
    first, second = read_journal(path)
    assert (first.cut_off, first.faults, len(first.records)) == (True, (), 1)
    assert (second.cut_off, second.faults, len(second.records)) == (False, (), 1)
    assert second.client_id == "c1"
    assert second.opened_ns is not None


@pytest.mark.parametrize("behind", [b'{"kind":"held"}', b'{"kind":"opened"}', b"nonsense"])
def test_line_that_is_cut_off_in_the_middle(tmp_path: Path, behind: bytes) -> None:
    """A line that was cut off before anything but a process's first line is none."""
    path = tmp_path / "c1.jsonl"
    path.write_bytes(b'{"kind":"consu' + behind + b"\n")
    (journal,) = read_journal(path)
    assert "c1.jsonl line 1: it is no JSON" in journal.faults[0]
