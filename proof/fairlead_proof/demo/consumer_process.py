"""One consumer of the demo, a process of its own: the public client, and a journal.

It reads commands, one line of JSON each, from its standard input, and says on its standard output
what it writes into its journal, after it is written there:

- ``{"do": "join"}``: join the group and process messages until told to leave;
- ``{"do": "hold", "queue_id": 7}``: keep the next message of that queue (null: of any) in hand;
- ``{"do": "resume"}``: finish the message in hand;
- ``{"do": "leave"}``, SIGTERM, or the end of the input: stop, release, leave, end.

A message is processed when its CONSUMED record is written; only then does the loop ask for the
next one, which is what tells the client that this one is done; a listener returns only then. So no
progress is ever reported of what is not in the journal. Before it writes, it asks the client
whether the queue is still its own: a message of a queue that was lost meanwhile is left to the next
owner.
"""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairlead_client import (
    ConsumeContext,
    Consumer,
    ConsumeResult,
    DuplicateClientIdError,
    Message,
    Observer,
    PushConsumer,
)
from fairlead_client import Epoch as ClientEpoch
from fairlead_client import Queue as ClientQueue
from fairlead_client.metrics import ClientMetrics, Families
from prometheus_client import start_http_server

from fairlead.core.model import Epoch, MessageQueue
from fairlead.errors import ExitCode
from fairlead.verify.journal import JournalWriter
from fairlead_proof.demo.consumers import Consumers


class Hands:
    """What the process has to do with the message in hand."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._holding = False
        self._queue_id: int | None = None

    def hold(self, queue_id: int | None) -> None:
        """Keep the next message of this queue, or of any, in hand."""
        with self._condition:
            self._holding, self._queue_id = True, queue_id

    def let_go(self) -> None:
        """Finish what is in hand, and hold nothing more."""
        with self._condition:
            self._holding = False
            self._condition.notify_all()

    def wants(self, queue_id: int) -> bool:
        """Tell whether a message of this queue is to be kept in hand."""
        with self._condition:
            return self._holding and self._queue_id in (None, queue_id)

    def wait(self) -> None:
        """Return when told to let go."""
        with self._condition:
            self._condition.wait_for(lambda: not self._holding)


class Diary(Observer):
    """Writes starts, messages and stops into the journal, and says them."""

    def __init__(self, journal: JournalWriter, hands: Hands) -> None:
        self._journal = journal
        self._hands = hands

    def work_started(self, queue: ClientQueue, epoch: ClientEpoch, offset: int) -> None:
        """The queue is ours from here on."""
        self._journal.start(MessageQueue(*queue), Epoch(*epoch), offset)

    def work_stopped(self, queue: ClientQueue, epoch: ClientEpoch, offset: int) -> None:
        """The work has stopped; the release has not been sent yet."""
        self._journal.stop(MessageQueue(*queue), Epoch(*epoch), offset)

    def process(
        self, message: Message, still_mine: Callable[[ClientQueue], ClientEpoch | None]
    ) -> None:
        """Process a message: write down that it is done, in hand before if told so."""
        queue = MessageQueue(*message.queue)
        if self._hands.wants(queue.queue_id):
            self._journal.held(queue, message.offset)
            self._hands.wait()
        if still_mine(message.queue) == message.epoch:
            self._journal.consumed(queue, message.offset, int(message.value or b""))


class CountedDiary(Diary, ClientMetrics):
    """A diary that also counts, in metrics of this process."""

    def __init__(self, journal: JournalWriter, hands: Hands, group: str) -> None:
        Diary.__init__(self, journal, hands)
        ClientMetrics.__init__(self, group, Families())


def say(line: bytes) -> None:
    """Write one line to the standard output, at once."""
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def emit(event: str) -> None:
    """Say that something happened that is not in the journal."""
    say(json.dumps({"event": event}).encode() + b"\n")


def listen(joined: threading.Event, hands: Hands, leave: Callable[[], None]) -> None:
    """Obey the standard input; its end means that the parent is gone, and to leave."""
    for line in sys.stdin:
        command = json.loads(line)
        match command["do"]:
            case "join":
                joined.set()
            case "hold":
                hands.hold(command["queue_id"])
            case "resume":
                hands.let_go()
            case "leave":
                break
    leave()


def main() -> None:
    """Read the arguments, wait for the word to join, consume until told to leave.

    A process that gives way to another one of its client id ends with an exit code of its own.
    """
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "prefix", "group", "topic", "client-id", "journal"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--settings", type=json.loads, default={}, help="of the client, as JSON")
    parser.add_argument("--metrics-port", type=int, help="show metrics there; left out: nowhere")
    parser.add_argument("--consumers", type=Consumers, default=Consumers.LOOP, help="what it is")
    arguments = parser.parse_args()
    with JournalWriter(Path(arguments.journal), echo=say) as journal:
        try:
            _consume(arguments, journal)
        except DuplicateClientIdError:
            emit("replaced")
            sys.exit(ExitCode.DUPLICATE_CLIENT)


def _consume(arguments: argparse.Namespace, journal: JournalWriter) -> None:
    hands, joined = Hands(), threading.Event()
    diary = _diary(arguments, journal, hands)
    pushes = arguments.consumers.pushes(arguments.client_id)
    consumer = _pushed(arguments, diary) if pushes else _iterated(arguments, diary)

    def leave() -> None:
        hands.let_go()
        consumer.stop()
        joined.set()

    # On a thread: the signal may have interrupted one that holds a lock.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=leave).start())
    threading.Thread(target=listen, args=(joined, hands, leave), daemon=True).start()
    emit("ready")
    joined.wait()
    with consumer:
        emit("joined")
        if isinstance(consumer, PushConsumer):
            consumer.wait()
        else:
            for message in consumer:
                diary.process(message, consumer.still_mine)
    emit("left")


def _diary(arguments: argparse.Namespace, journal: JournalWriter, hands: Hands) -> Diary:
    if arguments.metrics_port is None:
        return Diary(journal, hands)
    start_http_server(arguments.metrics_port, "127.0.0.1")
    return CountedDiary(journal, hands, arguments.group)


def _iterated(arguments: argparse.Namespace, diary: Diary) -> Consumer:
    return Consumer(observer=diary, **_settings(arguments))


def _pushed(arguments: argparse.Namespace, diary: Diary) -> PushConsumer:
    """Return a consumer with one thread: of a queue nothing is in hand but one message."""

    def process(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        for message in messages:
            diary.process(message, consumer.still_mine)
        return ConsumeResult.CONSUME_SUCCESS

    consumer = PushConsumer(
        listener=process,
        consume_threads=1,
        retry_topic=False,
        observer=diary,
        **_settings(arguments),
    )
    return consumer


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    # A gateway knows Fairlead's topics; a client of one has no use for their prefix.
    place = {} if "gateway" in arguments.settings else {"prefix": arguments.prefix}
    return {
        **place,
        "bootstrap": arguments.bootstrap,
        "group": arguments.group,
        "topics": [arguments.topic],
        "client_id": arguments.client_id,
        "consume_from": "first_offset",
        **arguments.settings,
    }


if __name__ == "__main__":
    main()
