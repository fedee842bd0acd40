"""Two processes with one client id: the lesser stops with an error and an exit code of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import DuplicateClientIdError, Queue
from fairlead_client.model import Position

from tests.kit.awaiting import ended

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

WAIT_SECONDS = 30

PROGRAM = """if True:
    import logging, signal, sys
    from fairlead_client import Consumer, DuplicateClientIdError

    logging.basicConfig(level=logging.WARNING)
    consumer = Consumer(bootstrap={bootstrap!r}, prefix={prefix!r}, group="orders",
                        topics=[{topic!r}], client_id="twin", progress_ms=50)
    signal.signal(signal.SIGTERM, lambda *_: consumer.stop())
    try:
        with consumer:
            for message in consumer:
                print(message.offset, flush=True)
                sys.stdin.readline()
    except DuplicateClientIdError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)
    print(getattr(consumer.last_error, "code", None), flush=True)
"""


class Twin:
    """A consumer in a process of its own; it keeps each message in hand until the test lets go."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())

    def next(self) -> str:
        """Return the next line that it says."""
        return self._lines.get(timeout=WAIT_SECONDS)

    def finish_message(self) -> None:
        """Let it finish the message in hand."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def ask_to_stop(self) -> None:
        """Let its handler of SIGTERM stop the consumer."""
        self._process.send_signal(signal.SIGTERM)

    def ended(self) -> tuple[int, str]:
        """Return the exit code and what it logged, when it has ended."""
        code = self._process.wait(timeout=WAIT_SECONDS)
        assert self._process.stderr is not None
        return code, self._process.stderr.read()

    def kill(self) -> None:
        """End it, if it has not."""
        self._process.kill()
        ended(self._reader)
        self._process.communicate(timeout=WAIT_SECONDS)


@pytest.fixture
def twins(engine: "ScriptedEngine", data_topic: str) -> Iterator[list[Twin]]:
    """Two processes with the client id twin; the second was started after the first had come."""
    program = PROGRAM.format(bootstrap=engine.bootstrap, prefix=engine.prefix, topic=data_topic)
    started: list[Twin] = []
    try:
        for number in (1, 2):
            started.append(Twin(program))
            _lives(engine, number)
        yield started
    finally:
        for process in started:
            process.kill()


def _lives(engine: "ScriptedEngine", count: int) -> list[dict[str, Any]]:
    """Return the first heartbeat of each of so many processes, the least process first."""
    found: dict[str, dict[str, Any]] = {}

    def is_new(record: dict[str, Any]) -> bool:
        if record["client_id"] != "twin":
            return False
        found.setdefault(record["process"]["uuid"], record)
        return len(found) == count

    engine.await_record("heartbeat", is_new)
    return sorted(
        found.values(), key=lambda beat: (beat["process"]["start_ms"], beat["process"]["uuid"])
    )


def test_both_twins_hear_of_each_other(
    engine: "ScriptedEngine", twins: list[Twin], data_topic: str
) -> None:
    """The lesser gives up its queue and exits with 7; the greater logs the notice and goes on."""
    lesser, greater = _lives(engine, 2)
    queue = Queue(data_topic, "main", 0)
    engine.grant(lesser, queue, 1)
    assert twins[0].next() == "0"
    winner = {name: greater["process"][name] for name in ("start_ms", "uuid")}
    for beat in (lesser, greater):
        engine.notice(beat, "duplicate_client_id", winner=winner)
    engine.await_record("leave", lambda record: record["incarnation"] == lesser["incarnation"])
    twins[0].finish_message()
    released = engine.release(queue, 1)
    assert (released["incarnation"], released["position"]) == (lesser["incarnation"], [0, 1])
    assert "client id 'twin' is used by another process" in twins[0].next()
    assert twins[0].ended()[0] == DuplicateClientIdError.exit_code == 7

    engine.grant(greater, queue, 2, Position(0, 1))
    assert twins[1].next() == "1"
    twins[1].ask_to_stop()
    twins[1].finish_message()
    assert twins[1].next() == "duplicate_client_id"
    code, log = twins[1].ended()
    assert code == 0
    assert "notice from the engine: duplicate_client_id" in log
