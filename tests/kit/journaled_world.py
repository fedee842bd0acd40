"""A whole engine in memory whose clients keep journals; and the places to forge them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.recording import RecordingFolder
from fairlead.verify.history import (
    ClientKilled,
    Closing,
    Consumed,
    Journal,
    JournalRecord,
    Start,
    StepRecord,
    Stop,
)
from fairlead.verify.journal import JournalWriter
from fairlead.wire.raw import RawRecord
from tests.kit.client import Client
from tests.kit.recordings import rows_of, settings_of, write_recording
from tests.kit.world import World

Rows = dict[tuple[str, int], list[RawRecord]]
MILLISECOND = 1_000_000


@dataclass
class Diary:
    """What clients write down, on one clock."""

    world: World
    now_ns: int = 0
    records: dict[str, list[JournalRecord]] = field(default_factory=dict)
    steps: list[StepRecord] = field(default_factory=list)

    def tick(self) -> int:
        """Time passes, and follows the clock of the topics."""
        self.now_ns = max(self.now_ns + 1, self.world.topics.now_ms * MILLISECOND)
        return self.now_ns

    def note(self, client_id: str, record: JournalRecord) -> None:
        """Write a line."""
        self.records.setdefault(client_id, []).append(record)

    def journals(self) -> list[Journal]:
        """Return the journals as they would be read."""
        return [Journal(name, tuple(records)) for name, records in sorted(self.records.items())]


@dataclass(slots=True)
class Writer(Client):
    """A client that keeps a journal."""

    diary: Diary | None = None

    def work(self, messages: int, written: Any = None) -> None:
        """Process messages, and write each down before it is reported."""
        for queue, (_, state) in sorted(self.held.items()):
            first = self.processed.get(queue, 0)
            for offset in range(first, first + messages if state == "held" else first):
                self._note(Consumed(MessageQueue(*queue), offset, offset, self._tick()))
        Client.work(self, messages, written)

    def read(self, record: dict[str, Any]) -> None:
        """Obey a record, and write down what starts."""
        before = {queue: entry for queue, entry in self.held.items() if entry[1] == "held"}
        Client.read(self, record)
        for queue, (epoch, state) in sorted(self.held.items()):
            if state == "held" and before.get(queue, ([], ""))[0] != epoch:
                offset = self.processed[queue]
                self._note(Start(MessageQueue(*queue), Epoch(*epoch), offset, self._tick()))

    def _release(self, queue: tuple[str, str, int], epoch: list[int], *, started: bool) -> None:
        if started:
            offset = self.processed.get(queue, 0)
            self._note(Stop(MessageQueue(*queue), Epoch(*epoch), offset, self._tick()))
        Client._release(self, queue, epoch, started=started)  # noqa: SLF001 - the part of it that writes

    def _note(self, record: JournalRecord) -> None:
        assert self.diary is not None
        self.diary.note(self.client_id, record)

    def _tick(self) -> int:
        assert self.diary is not None
        return self.diary.tick()


@dataclass
class Life:
    """A world, the journals of its clients, and what was done to them."""

    world: World = field(default_factory=World)
    diary: Diary = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the first tick of a driver."""
        self.diary = Diary(self.world)
        self.world.topics.tick(1)

    def join(self, client_id: str, group: str = "orders", **fields: Any) -> Writer:
        """A client that keeps a journal joins."""
        world = self.world
        client = Writer(
            world.topics,
            group,
            client_id,
            generation=world.generation,
            diary=self.diary,
            **fields,
        )
        return world.add(client)

    def kill(self, client: Client) -> None:
        """A client dies without a word, with messages processed that it has not reported."""
        client.gone = True
        for queue, (_, state) in sorted(client.held.items()):
            reached = client.processed.get(queue, 0)
            for offset in range(reached, reached + 2 if state == "held" else reached):
                consumed = Consumed(MessageQueue(*queue), offset, offset, self.diary.tick())
                self.diary.note(client.client_id, consumed)
        sent = self.diary.tick()
        self.diary.steps.append(ClientKilled(client.client_id, sent, self.diary.tick()))

    def close(self) -> None:
        """Everybody stops in order."""
        self.diary.steps.append(Closing(self.diary.tick()))
        for client in self.world.clients:
            if not client.gone:
                client.leave()
        self.world.pass_seconds(3)

    def rows(self) -> Rows:
        """Return everything that stands in the topics."""
        return rows_of(self.world)

    def record(self, folder: Path, rows: Rows | None = None) -> RecordingFolder:
        """Write the topics, or these rows in their place, as a recording."""
        return write_recording(folder, rows or self.rows(), settings_of(self.world))

    def write_journals(self, folder: Path) -> None:
        """Write the journals as the clients' processes would."""
        folder.mkdir()
        for number, journal in enumerate(self.diary.journals()):
            path = folder / f"process-{number}.jsonl"
            with JournalWriter(path, client_id=journal.client_id):
                pass
            with path.open("ab") as stream:
                for record in journal.records:
                    stream.write(orjson.dumps(plain_record(record)) + b"\n")


def plain_record(record: JournalRecord) -> dict[str, Any]:
    """Return a journal's record as its line has it."""
    fields: dict[str, Any] = {
        "kind": type(record).__name__.lower(),
        "queue": list(record.queue),
        "offset": record.offset,
        "t": record.t_ns,
    }
    if isinstance(record, Start | Stop):
        fields["epoch"] = list(record.epoch)
    if isinstance(record, Consumed):
        fields["number"] = record.number
    return fields


def rich_life(seed: int = 3) -> Life:
    """Clients join, leave and die; the driver dies; a record is refused; there are two groups."""
    life, chance = Life(), Random(seed)
    world = life.world
    for second in range(30):
        if second % 4 == 0:
            life.join(f"client-{second}")
        if second == 6:
            world.join("other", "a", subscribed=("payments",))
        if second == 10:
            world.clients[0].leave()
        if second == 14:
            life.kill(next(each for each in world.clients if each.client_id == "client-8"))
        if second == 18:
            world.topics.append("heartbeats", 0, b"orders", b"nonsense")
            for client in world.clients:
                if not client.gone:
                    client.beat()
            for shard in (0, 1):
                world.run(shard, killed_after=2)
            world.start_driver()
        world.pass_seconds(1, chance)
    world.pass_seconds(8, chance)
    life.close()
    return life


Body = dict[str, Any]


def forge(rows: Rows, suffix: str, edit: Callable[[Body], bool]) -> RawRecord:
    """Change the first record of a topic that an edit accepts; return it as it is now."""
    for (name, number), log in rows.items():
        if name != suffix:
            continue
        for at, row in enumerate(log):
            body = orjson.loads(row.value) if row.value and row.value[:1] == b"{" else {}
            if body and edit(body):
                rows[name, number][at] = row._replace(value=orjson.dumps(body))
                return rows[name, number][at]
    raise AssertionError(f"no record of {suffix} can be forged so")
