"""One client of the measurement, a process of its own that joins and leaves when told to.

It lives through the whole run, so that no join contains the start of an interpreter. Each join
makes a new ``Consumer``, as an application would. Commands are lines of JSON on the standard
input: ``{"do": "join"}``, ``{"do": "leave"}``; its end ends the process. On the standard output
it says, with CLOCK_MONOTONIC in nanoseconds, when it may work on a queue, when it reads it from its
position, and when it stopped. A line holds all that it has said since the line before, 20 ms at
least: to write and to read a line for each word would take from the measured what it measures.
"""

import argparse
import json
import queue
import sys
import threading
import time

from fairlead_client import Consumer, Epoch, Observer, Queue

GATHER_SECONDS = 0.02


class Speaker(Observer):
    """Says when a queue may be worked on, is read from its position, and is not any more."""

    def __init__(self) -> None:
        self._words: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def say(self, event: str, **fields: object) -> None:
        """Say a word, with the time; from any thread."""
        self._words.put({"event": event, "t": time.monotonic_ns(), **fields})

    def send_end(self) -> None:
        """Return when everything is written."""
        self._words.put(None)
        self._thread.join()

    def work_started(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The consumer owns the queue from here on."""
        self.say("started", queue=queue, epoch=epoch, offset=offset)

    def reading(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The consumer stands at its position."""
        self.say("reading", queue=queue, epoch=epoch, offset=offset)

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The consumer has stopped."""
        self.say("stopped", queue=queue, epoch=epoch, offset=offset)

    def _write(self) -> None:
        ended = False
        while not ended:
            words = [self._words.get()]
            time.sleep(GATHER_SECONDS)
            while not self._words.empty():
                words.append(self._words.get())
            ended = None in words
            sys.stdout.write(json.dumps([word for word in words if word is not None]) + "\n")
            sys.stdout.flush()


class Commands:
    """The commands to the process: joins wait in a queue, a leave reaches the consumer at once."""

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
    parser.add_argument("--gateway", help="take part through it; left out: by Kafka alone")
    arguments = parser.parse_args()
    # A gateway knows Fairlead's topics; a client of one has no use for their prefix.
    place = {"gateway": arguments.gateway} if arguments.gateway else {"prefix": arguments.prefix}
    commands, speaker = Commands(), Speaker()
    threading.Thread(target=commands.listen, daemon=True).start()
    speaker.say("ready")
    while commands.await_join():
        consumer = Consumer(
            bootstrap=arguments.bootstrap,
            **place,
            group=arguments.group,
            topics=[arguments.topic],
            client_id=arguments.client_id,
            consume_from="first_offset",
            observer=speaker,
        )
        commands.serve(consumer)
        with consumer:
            speaker.say("joined")
            for _ in consumer:
                pass
        speaker.say("left")
    speaker.send_end()


if __name__ == "__main__":
    main()
