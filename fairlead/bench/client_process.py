"""One client of the measurement, a process of its own that joins and leaves when told to.

It lives through the whole run, so that no join contains the start of an interpreter. Each join
makes a new ``Consumer``, as an application would. Commands are lines of JSON on the standard
input: ``{"do": "join"}``, ``{"do": "leave"}``; its end ends the process. On the standard output
it says, with CLOCK_MONOTONIC in nanoseconds, when it may work on a queue, when it reads it from its
position, and when it stopped.
"""

import argparse
import json
import queue
import sys
import threading
import time

from fairlead_client import Consumer, Epoch, Observer, Queue


def say(event: str, **fields: object) -> None:
    """Write one line with the time, at once."""
    line = json.dumps({"event": event, "t": time.monotonic_ns(), **fields})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Speaker(Observer):
    """Says when a queue may be worked on, is read from its position, and is not any more."""

    def work_started(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The consumer owns the queue from here on."""
        say("started", queue=queue, epoch=epoch, offset=offset)

    def reading(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The consumer stands at its position."""
        say("reading", queue=queue, epoch=epoch, offset=offset)

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The consumer has stopped."""
        say("stopped", queue=queue, epoch=epoch, offset=offset)


class Commands:
    """What the process is told: joins wait in a queue, a leave reaches the consumer at once."""

    def __init__(self) -> None:
        self._joins: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._consumer: Consumer | None = None
        self._lock = threading.Lock()

    def serve(self, consumer: Consumer) -> None:
        """Let the next leave be for this consumer."""
        with self._lock:
            self._consumer = consumer

    def await_join(self) -> bool:
        """Return True when told to join, False when there will be nothing more."""
        return self._joins.get() is not None

    def listen(self) -> None:
        """Obey the standard input until it ends."""
        for line in sys.stdin:
            if json.loads(line)["do"] == "join":
                self._joins.put("join")
            else:
                self._leave()
        self._leave()
        self._joins.put(None)

    def _leave(self) -> None:
        with self._lock:
            if self._consumer is not None:
                self._consumer.stop()


def main() -> None:
    """Read the arguments; join and leave as often as told."""
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "prefix", "group", "topic", "client-id"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    commands = Commands()
    threading.Thread(target=commands.listen, daemon=True).start()
    say("ready")
    while commands.await_join():
        consumer = Consumer(
            bootstrap=arguments.bootstrap,
            prefix=arguments.prefix,
            group=arguments.group,
            topics=[arguments.topic],
            client_id=arguments.client_id,
            consume_from="first_offset",
            observer=Speaker(),
        )
        commands.serve(consumer)
        with consumer:
            say("joined")
            for _ in consumer:
                pass
        say("left")


if __name__ == "__main__":
    main()
