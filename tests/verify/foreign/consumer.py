"""One consumer of the foreign harness: the client, and a journal written by docs/journals.md alone.

It obeys its standard input, a word a line: ``hold`` keeps the next message in hand, ``quit`` leaves
in order, ``drop`` leaves in the middle of a batch. The end of the input is ``quit``.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from fairlead_client import (
    ConsumeContext,
    Consumer,
    ConsumeResult,
    Epoch,
    Message,
    Observer,
    PullConsumer,
    PushConsumer,
    Queue,
)

FAILS_EVERY = 7
"""A listener that fails does so at every so many messages, the first time it has them."""


class Journal(Observer):
    """A line for everything that happens, with one write each."""

    def __init__(self, path: str, client_id: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lock = threading.Lock()
        self._write({"kind": "opened", "client_id": client_id, "pid": os.getpid()})

    def _write(self, line: dict[str, Any]) -> None:
        with self._lock:
            line["t"] = time.monotonic_ns()
            os.write(self._file, json.dumps(line).encode() + b"\n")

    def work_started(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """START."""
        self._write({"kind": "start", "queue": queue, "epoch": epoch, "offset": offset})

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """STOP."""
        self._write({"kind": "stop", "queue": queue, "epoch": epoch, "offset": offset})

    def passed(self, queue: Queue, epoch: Epoch, offset: int, end: int, why: str) -> None:
        """Nothing of this is processed here."""
        del epoch
        count = end - offset
        self._write(
            {"kind": "passed", "queue": queue, "offset": offset, "count": count, "why": why}
        )

    def held(self, message: Message, count: int = 1) -> None:
        """In hand; more than one: they are finished together."""
        line = {"kind": "held", "queue": message.queue, "offset": message.offset}
        self._write(line if count == 1 else {**line, "count": count})

    def consumed(self, message: Message) -> None:
        """Processed."""
        number = int(message.value or b"")
        line = {"queue": message.queue, "offset": message.offset, "number": number}
        self._write({"kind": "consumed", **line})

    def failed(self, message: Message) -> None:
        """Not processed: it comes again."""
        self._write({"kind": "failed", "queue": message.queue, "offset": message.offset})

    def committed(self, message: Message) -> None:
        """Everything below is finished."""
        offset = message.offset + 1
        self._write({"kind": "committed", "queue": message.queue, "offset": offset})


class Hand:
    """What the harness wants of the message in hand."""

    def __init__(self) -> None:
        self.holding = threading.Event()
        self.go_on = threading.Event()
        self.quit = threading.Event()
        self.drop = threading.Event()

    def obey(self) -> None:
        """Read the standard input to its end."""
        for line in sys.stdin:
            match line.strip():
                case "hold":
                    self.holding.set()
                case "drop":
                    self.drop.set()
                    self.go_on.set()
                case "quit":
                    break
        self.quit.set()
        self.go_on.set()


def loop(settings: dict[str, Any], journal: Journal, hand: Hand) -> None:
    """Iterate."""
    consumer = Consumer(observer=journal, **settings)
    threading.Thread(target=_stop_at_quit, args=(consumer, hand), daemon=True).start()
    with consumer:
        for message in consumer:
            if hand.holding.is_set():
                journal.held(message)
                hand.go_on.wait()
            if consumer.still_mine(message.queue) == message.epoch:
                journal.consumed(message)


def _stop_at_quit(consumer: Consumer | PushConsumer, hand: Hand) -> None:
    hand.quit.wait()
    consumer.stop()


def push(settings: dict[str, Any], journal: Journal, hand: Hand, *, sends_back: bool) -> None:
    """Be called, on four threads, with a listener that fails now and then."""
    tried: set[tuple[Queue, int]] = set()

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        message = messages[0]
        place = context.queue, message.offset
        retried = message.topic != settings["topics"][0]
        if message.offset % FAILS_EVERY == 0 and place not in tried and not retried:
            tried.add(place)
            journal.failed(message)
            return ConsumeResult.RECONSUME_LATER
        if consumer.still_mine(message.queue) == message.epoch:
            journal.consumed(message)
        return ConsumeResult.CONSUME_SUCCESS

    consumer = PushConsumer(
        listener=listen, consume_threads=4, retry_topic=sends_back, observer=journal, **settings
    )
    threading.Thread(target=_stop_at_quit, args=(consumer, hand), daemon=True).start()
    with consumer:
        consumer.wait()


def pull(settings: dict[str, Any], journal: Journal, hand: Hand) -> None:
    """Poll batches; leave in the middle of one if told so."""
    consumer = PullConsumer(observer=journal, **settings)
    consumer.start()
    last: Message | None = None
    waited = False
    while not hand.quit.is_set():
        if hand.drop.is_set() and not waited:
            # What is pulled as it comes is one message each time; what has waited is a batch.
            waited = True
            consumer.suspend()
            hand.quit.wait(3)
            consumer.resume()
        if last is not None:
            journal.committed(last)
            last = None
        batch = consumer.poll(timeout_ms=200)
        if not batch:
            continue
        journal.held(batch[0], len(batch))
        if hand.drop.is_set() and len(batch) > 1:
            for message in batch[: len(batch) // 2]:
                journal.consumed(message)
            consumer.close()
            return
        for message in batch:
            if consumer.still_mine(message.queue) == message.epoch:
                journal.consumed(message)
        last = batch[-1]
    if last is not None:
        journal.committed(last)
    consumer.commit()
    consumer.close()


def main() -> None:
    """Read the arguments; consume until told to leave."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("journal")
    parser.add_argument("settings", type=json.loads)
    arguments = parser.parse_args()
    settings, hand = arguments.settings, Hand()
    journal = Journal(arguments.journal, settings["client_id"])
    threading.Thread(target=hand.obey, daemon=True).start()
    match arguments.kind:
        case "loop":
            loop(settings, journal, hand)
        case "pull":
            pull(settings, journal, hand)
        case kind:
            push(settings, journal, hand, sends_back=kind == "push-sends-back")


if __name__ == "__main__":
    main()
