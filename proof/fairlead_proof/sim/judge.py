"""Observes every step, and fails a schedule that breaks a promise."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import orjson
from fairlead_client.model import Queue

from fairlead.codec.group import decode_group
from fairlead.codec.shard import open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.model import MessageQueue
from fairlead.core.positions.first_position import ROCKETMQ
from fairlead.core.topics.partitions_added import BOUNDS_NOT_TOLD
from fairlead.wire.raw import OutgoingRecord, RawRecord
from fairlead.wire.topics import TopicNames
from fairlead_proof.sim.application import Host, Work
from fairlead_proof.sim.data_plane import DataPlane, Topic
from fairlead_proof.sim.grants import Grant, Grants
from fairlead_proof.sim.kafka import Kafka
from fairlead_proof.sim.reports import Reports
from fairlead_proof.sim.scenario import Scenario
from fairlead_proof.sim.start_checks import StartChecks
from fairlead_proof.sim.tenures import Tenures
from fairlead_proof.sim.timeline import Timeline
from fairlead_proof.sim.violation import BreachError

if TYPE_CHECKING:
    from fairlead_proof.sim.driver import Batch, Driver

__all__ = ["Judge", "JudgedWorld"]

NAMES = TopicNames()
ASSIGNMENTS = NAMES.name("assignments")
DECISIONS = NAMES.name("decisions")
HEARTBEAT = b'{"v":1,"kind":"heartbeat"'
BOUNDS_LATE = BOUNDS_NOT_TOLD.encode()


class JudgedWorld(Protocol):
    """The parts of the world that the judge needs."""

    timeline: Timeline
    kafka: Kafka
    data: DataPlane
    scenario: Scenario

    def note(self, kind: str) -> None:
        """Count something of this kind."""


class Judge:
    """Judges the promises of the handover against what every process really does."""

    def __init__(self, world: JudgedWorld, loose: Collection[str] = ()) -> None:
        """Observe the world; the start of work on ``loose`` topics is not judged."""
        self._world = world
        self.tenures = Tenures(exclusive=world.scenario.mode != "eager")
        self.reports = Reports(self._counts)
        self.start_checks = StartChecks()
        self.grants = Grants(self.reports, self.tenures)
        self._sequences: dict[str, int] = {}
        self._late: set[Queue] = set()
        self._recreated: set[Queue] = set()
        self._loose = frozenset(loose)
        self._lost = False
        self._lawless: set[Queue] = set()
        self._hidden: dict[Queue, int | None] = {}
        kafka = world.kafka
        kafka.partition("heartbeats").followers.append(self._heartbeats)
        kafka.partition("releases").followers.append(self._releases)
        kafka.partition("routes").followers.append(self._routes)

    # What the clients do.
    def started(self, client: Host, work: Work) -> None:
        """Work on a queue begins."""
        self.tenures.started(client, work)
        grant = self.grants.known.get((work.queue, work.epoch))
        if grant is None or grant.incarnation != work.incarnation:
            raise BreachError("GRANT", f"{client.name} starts {work.queue} without a grant")
        if grant.identity != self._identity(work.queue):
            return
        if work.queue.topic in self._loose or work.queue in self._lawless:
            # The engine forgets a topic without subscribers.
            self.start_checks.anywhere(work)
            return
        if work.queue not in self.start_checks.done:
            self.start_checks.first(client.name, work, self._first_starts(work.queue))
            return
        floor = self._floor(work.queue, grant)
        if self._was_hidden(work.queue, grant):
            floor = (0, 0)
            if work.begin.reset < self.start_checks.done[work.queue][0]:
                # The engine forgot its reset too, and may find it again after a loss.
                self._lawless.add(work.queue)
                return
        self.start_checks.next(client.name, work, floor)

    def _was_hidden(self, queue: Queue, grant: Grant) -> bool:
        """Tell whether the engine may have forgotten a queue's position, since it was hidden."""
        if queue not in self._hidden:
            return False
        if grant.routes_end > (self._hidden[queue] or grant.routes_end):
            del self._hidden[queue]
            self.reports.forget(queue)
        return True

    def _floor(self, queue: Queue, grant: Grant) -> tuple[int, int]:
        """Return the position below which nobody may read a queue again."""
        if self._unsafe(queue):
            return (0, 0)
        floor = grant.floor
        return self.reports.released(queue, grant.after) if floor is None else floor

    def _unsafe(self, queue: Queue) -> bool:
        return self._world.scenario.mode == "eager" or queue in self.tenures.unsafe

    def processed(self, client: Host, work: Work) -> None:
        """Everything below the work's offset is processed."""
        del client
        self.handler_finished(work, work.offset)

    def handler_finished(self, work: Work, offset: int) -> None:
        """Everything below this offset is processed, perhaps by work that has ended."""
        if self._of_present_life(work.queue, work.epoch):
            self.start_checks.processed(work.queue, work.begin.reset, offset)

    def ended(self, client: Host, work: Work) -> None:
        """The work on a queue is over."""
        self.tenures.ended(client, work)

    def turn_taken(self, client: Host) -> None:
        """Check that no other client works on this client's queues."""
        for queue in client.application.works:
            self.tenures.check_owners(queue)

    def _of_present_life(self, queue: Queue, epoch: tuple[int, int]) -> bool:
        grant = self.grants.known.get((queue, epoch))
        return grant is not None and grant.identity == self._identity(queue)

    def _counts(self, queue: Queue, epoch: tuple[int, int]) -> bool:
        return self._of_present_life(queue, epoch) and not self.grants.known[queue, epoch].lost

    def _identity(self, queue: Queue) -> str:
        return self._world.data.topics[queue.topic].identity

    def _first_starts(self, queue: Queue) -> list[tuple[int, int]]:
        """Return the ranges in which an unread queue may start."""
        world = self._world
        topic = world.data.topics[queue.topic]
        held = topic.first_ends.get(queue.queue_id, 0)
        grown, anew = queue in self._late, queue in self._recreated
        low = (grown and world.scenario.start_policy != ROCKETMQ) or (anew and not grown)
        if world.scenario.consume_from == "first_offset" or low:
            return [(0, 0)]
        # After recreation and growth, nobody knows which of the two the engine has read.
        late = [(0, 0)] if self._lost or anew else []
        return [*late, (held, world.data.end_offset(MessageQueue(*queue), world.timeline.now_ms))]

    # What the world does.
    def grown(self, topic: Topic, first: int) -> None:
        """The topic has more queues, from this number on."""
        self._late.update(Queue(*topic.queue(number)) for number in range(first, topic.queues))

    def hidden(self, topic: Topic, first: int) -> None:
        """Queues from this number on are unreadable for a while."""
        for number in range(first, topic.queues):
            queue = Queue(*topic.queue(number))
            self._hidden[queue] = None
            if queue in self._recreated:
                # If nobody has read it, it returns as a new queue.
                self._late.add(queue)
            self.start_checks.asked.pop(queue, None)

    def engine_started(self, stored: StoredShard | None) -> None:
        """An engine starts from this state."""
        newest = (0, 0)
        if stored is None:
            self._lost = True
        else:
            for slot in open_shard(stored).slots.values():
                newest = max(newest, decode_group(slot.body, slot.liveness, slot.group).epoch)
        self.grants.restarted(newest)

    def recreated(self, topic: Topic) -> None:
        """The topic was recreated."""
        for queue in [queue for queue in self.start_checks.done if queue.topic == topic.name]:
            self.start_checks.forget(queue)
            self.reports.forget(queue)
        for queue in [queue for queue in self._hidden if queue.topic == topic.name]:
            del self._hidden[queue]
        self._lawless = {queue for queue in self._lawless if queue.topic != topic.name}
        self._late = {queue for queue in self._late if queue.topic != topic.name}
        self._recreated.update(Queue(*queue) for queue in topic.readable_queues())

    # What stands in the log.
    def _heartbeats(self, record: RawRecord) -> None:
        self.reports.appended_heartbeats(record)
        value = record.value
        if value is not None and value.startswith(HEARTBEAT):
            read = orjson.loads(value)
            topics = tuple(each["topic"] for each in read["subscriptions"])
            known = self.grants.subscribed.setdefault(read["incarnation"], [])
            newest = self._sequences.get(read["incarnation"], -1)
            if read["sequence"] < newest:
                # A gateway was late with it, and the engine ignores what it says.
                return
            self._sequences[read["incarnation"]] = read["sequence"]
            if not known or known[-1][1] != topics:
                known.append((record.offset, topics))

    def _releases(self, record: RawRecord) -> None:
        released = self.reports.appended_releases(record)
        if released is not None:
            self.tenures.released(*released)

    def _routes(self, record: RawRecord) -> None:
        topic = (record.key or b"").decode()
        identity, readable = "", 0
        if record.value is not None:
            read = orjson.loads(record.value)
            identity, readable = read["identity"], read["brokers"][0]["read_queue_nums"]
        written = self.grants.routes.written.setdefault(topic, [])
        written.append((record.offset, identity, readable))
        for queue, shown in self._hidden.items():
            if shown is None and queue.topic == topic and queue.queue_id < readable:
                self._hidden[queue] = record.offset

    def written(
        self,
        driver: "Driver",
        batch: "Batch",
        records: Sequence[OutgoingRecord],
        decided: Sequence[OutgoingRecord],
    ) -> None:
        """A driver has appended some or all records of a batch.

        An add may come before the decision that calls it unsafe.
        """
        newest = driver.generation == self._world.kafka.partition("generations").end
        for record in decided if records else ():
            if record.topic == DECISIONS and b'"unsafe":true' in (record.value or b""):
                self._mark_unsafe(record.value or b"")
        for record in records:
            if record.topic == DECISIONS and BOUNDS_LATE in (record.value or b""):
                self._world.note("bounds_not_told_in_time")
            if record.topic != ASSIGNMENTS:
                continue
            if record.value is None:
                self._gone(driver, record, batch.ends)
            elif b'"kind":"assignment"' in record.value[:40]:
                self.grants.assignment(record.value, batch.ends, newest=newest)

    def _mark_unsafe(self, value: bytes) -> None:
        """Note the queues that may have two owners, as the engine says."""
        moves = orjson.loads(value)["moves"]
        self.tenures.unsafe.update(Queue(*move["queue"]) for move in moves if move.get("unsafe"))

    def _gone(self, driver: "Driver", record: OutgoingRecord, ends: Mapping[str, int]) -> None:
        _, client_id, incarnation, part = orjson.loads(record.key or b"")
        if part == 0:
            self.reports.gone(incarnation, ends)
            self.tenures.gone(incarnation, f"{driver.name} takes {client_id} for gone")
