"""How one client reads its assignments, handovers and generations, at times late."""

from collections.abc import Iterator
from dataclasses import dataclass

from fairlead_client.errors import MalformedRecordError
from fairlead_client.session import events as on
from fairlead_client.session.records import Assignment
from fairlead_client.transport.decoding import decode_assignment, decode_key, decode_release

from fairlead.wire.partition import partition_of_client
from fairlead.wire.raw import RawRecord
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.kafka import Kafka, Partition

__all__ = ["Following"]

OFTEN_MS = (1, 60)
SELDOM_MS = (60, 600)


@dataclass(slots=True)
class ReadPosition:
    """How far a client has read one partition."""

    partition: Partition
    offset: int


class Following:
    """One client's reader.

    Attributes:
        stuck_until_ms: until then it reads nothing.
        generation: the newest generation that it has read.
    """

    def __init__(
        self, kafka: Kafka, chance: Chance, member: tuple[str, str], partitions: int
    ) -> None:
        self._kafka = kafka
        self._chance = chance
        self._member = member
        group, client_id = member
        number = partition_of_client(group, client_id, partitions)
        assignments = kafka.partition("assignments", number)
        self._assignments = ReadPosition(assignments, assignments.end)
        numbers = {number, partition_of_client(group, "", partitions)}
        handovers = [kafka.partition("handovers", other) for other in sorted(numbers)]
        self._handovers = tuple(ReadPosition(partition, partition.end) for partition in handovers)
        self._generations = ReadPosition(kafka.partition("generations"), 0)
        self.stuck_until_ms = 0
        self.generation = 0

    @property
    def places(self) -> tuple[ReadPosition, ...]:
        """Every partition that it follows."""
        return (self._generations, self._assignments, *self._handovers)

    def concerns(self, record: RawRecord) -> bool:
        """Tell whether this client must read a record that was just appended."""
        if record.topic != self._assignments.partition.topic:
            return True
        return decode_key(record.key or b"") == self._member

    def delay_ms(self) -> int:
        """Return the time until it reads the next record."""
        least, most = OFTEN_MS if self._chance.happens(0.9) else SELDOM_MS
        return self._chance.between(least, most)

    def read(self) -> Iterator[on.Event]:
        """Yield the new records, at times not all of them.

        It reads the topics in any order: nothing may depend on it.
        """
        for place in self._chance.shuffled(self.places):
            yield from self._read(place, whole=self._chance.happens(0.95))

    def read_to_end(self) -> Iterator[on.Event]:
        """Yield the rest of generations and assignments."""
        for place in self.places[:2]:
            yield from self._read(place, whole=True)

    def read_again(self) -> on.Event | None:
        """Return an old assignment of this client once more."""
        known = self._assignments.partition.records[: self._assignments.offset]
        mine = [
            record
            for record in known
            if record is not None and record.value is not None and self.concerns(record)
        ]
        return self._event(self._chance.pick(mine)) if mine else None

    def at_end(self) -> bool:
        """Tell whether it has read everything."""
        return all(place.offset == place.partition.end for place in self.places)

    def _read(self, place: ReadPosition, *, whole: bool) -> Iterator[on.Event]:
        end = place.partition.end
        if place.offset == end or not self._kafka.up:
            return
        if not whole:
            end = self._chance.between(place.offset, end)
        records = place.partition.between(place.offset, end)
        place.offset = end
        for record in records:
            try:
                event = self._event(record)
            except MalformedRecordError:
                continue
            if event is not None:
                yield event

    def _event(self, record: RawRecord) -> on.Event | None:
        if record.value is None:
            return None
        if record.topic == self._assignments.partition.topic:
            if not self.concerns(record):
                return None
            read = decode_assignment(record.value)
            if isinstance(read, Assignment):
                return on.AssignmentRead(read)
            return None if read is None else on.NoticeRead(read)
        if record.topic == self._handovers[0].partition.topic:
            release = decode_release(record.value)
            return None if release is None else on.ReleaseRead(release)
        self.generation = max(self.generation, record.offset + 1)
        return on.GenerationRead(record.offset + 1)
