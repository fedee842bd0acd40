"""Follows Fairlead's topics on a thread, and hands on what it reads.

Decides from where each topic is read, and when everything that stood in the log at the start has
been read. It writes nothing and commits no offset, so several may follow the same topics.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.connection import REQUEST_TIMEOUT_MS
from fairlead.kafka.pace import Pace
from fairlead.kafka.partition_reading import partition_counts
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.topic_consumer import TopicConsumer
from fairlead.kafka.topic_ids import TopicIds, read_topic_ids
from fairlead.kafka.topic_reader import consumer_of
from fairlead.settings import KafkaSettings
from fairlead.wire.raw import Partitions, RawRecord, raw_record
from fairlead.wire.topics import TopicNames

__all__ = ["FollowedTopic", "Following", "TopicFollower"]

_POLL_MS: Final = 1_000
"""The longest wait for records, here and at the brokers; those that come end it at once."""
_ASK_S: Final = 5.0
"""How often every leader is asked where its partitions end."""
_IDENTIFY_MS: Final = 15_000
"""How often to look whether the topics are still the same: a recreated one gives no error."""
_RETRY_S: Final = 2.0

_NOTHING: Final[Mapping[str, int]] = {}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FollowedTopic:
    """How far a topic was read.

    Attributes:
        behind: records between what was read and the end, as a broker told it last.
        newest_ms: when the newest record that was read was appended; 0: none was.
    """

    behind: int
    newest_ms: int


@dataclass(frozen=True, slots=True)
class Following:
    """The state of a follower.

    Attributes:
        caught_up: everything that stood in the topics when it last connected has been read.
        trouble: why it does not follow, in words; empty: it does.
        topics: suffix -> how far.
        read: records since it began.
        wanted: how many of these stood in the topics when it last connected.
    """

    caught_up: bool
    trouble: str
    topics: Mapping[str, FollowedTopic]
    read: int
    wanted: int


class TopicFollower:
    """Reads the topics until it is stopped; connects again after a failure."""

    def __init__(
        self,
        kafka: KafkaSettings,
        windows_ms: Mapping[str, int | None],
        begin: Callable[[TopicNames, Partitions], None],
        take: Callable[[Sequence[RawRecord]], None],
        caught_up: Callable[[], None],
        *,
        at_least: Mapping[str, int] = _NOTHING,
        name: str = "serve",
        gather_s: tuple[float, float] = (0.1, 0.25),
    ) -> None:
        """Describe the follower.

        Args:
            kafka: the cluster with Fairlead's topics.
            windows_ms: topic -> how far back it is read; None: from its first record.
            begin: called before the first rows, and again if it cannot continue after a break: the
                callee forgets all rows.
            take: called with rows; those of one partition come in order.
            caught_up: called once after each ``begin``, after the rows that stood there then.
            at_least: topic -> read so many of the newest records, however old they are.
            name: its name in the broker's log.
            gather_s: after records it waits so long for more, where few and where many come: each
                look at the brokers costs about a millisecond of processor time, however many
                records it brings.
        """
        self._kafka = kafka
        self._names = TopicNames(kafka.topic_prefix)
        self._windows, self._at_least, self._name = dict(windows_ms), at_least, name
        self._gather_s = gather_s
        self._begin, self._take, self._caught_up = begin, take, caught_up
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
        self._trouble = "not connected yet"
        self._topics: dict[str, FollowedTopic] = {}
        self._ready = self._counted = False
        self._read = self._wanted = 0
        self._positions: dict[TopicPartition, int] = {}
        self._ids: TopicIds = {}

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait until the thread has ended."""
        self._stop.set()
        self._thread.join()

    @property
    def is_ready(self) -> bool:
        """Whether it follows, and has read what stood in the topics; quick to ask."""
        return self._ready

    @property
    def following(self) -> Following:
        """Its present state."""
        if self._thread.ident is not None and not self._thread.is_alive():
            self._note_trouble("its thread has ended")
        return Following(self._ready, self._trouble, dict(self._topics), self._read, self._wanted)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except (EnvironmentMissingError, KafkaError, OSError) as error:
                self._note_trouble(str(error))
                self._stop.wait(_RETRY_S)
            except Exception as error:
                log.exception("following_failed")
                self._note_trouble(f"{type(error).__name__}: {error}")
                self._stop.wait(_RETRY_S)

    def _note_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            log.warning("not_following", reason=trouble)
        self._trouble, self._ready = trouble, False

    def _follow(self) -> None:
        counts = partition_counts(self._kafka, [self._names.name(each) for each in self._windows])
        places = [TopicPartition(topic, each) for topic, n in counts.items() for each in range(n)]
        ids = read_topic_ids(self._kafka, counts)
        age_ms = self._kafka.connection.metadata_max_age_ms or _IDENTIFY_MS
        options = {
            # A gap is an error here: to continue at the end would leave records out.
            "auto_offset_reset": "none",
            "fetch_max_wait_ms": _POLL_MS,
            "metadata_max_age_ms": min(age_ms, _IDENTIFY_MS),
        }
        with contextlib.closing(consumer_of(self._kafka, self._name, **options)) as consumer:
            consumer.assign(places)
            ends = consumer.end_offsets(places, timeout_ms=REQUEST_TIMEOUT_MS)
            firsts = consumer.beginning_offsets(places, timeout_ms=REQUEST_TIMEOUT_MS)
            if ids != self._ids or not self._goes_on(firsts, ends):
                self._positions = self._starts(consumer, firsts, ends)
                self._begin(
                    self._names,
                    Partitions(
                        shards=counts[self._names.name("heartbeats")],
                        assignments=counts[self._names.name("assignments")],
                    ),
                )
                self._ids, self._read, self._counted = ids, 0, False
            for place, position in self._positions.items():
                consumer.seek(place, position)
            self._wanted = self._read + sum(
                end - self._positions[place] for place, end in ends.items()
            )
            self._trouble = ""
            log.info("following", topics=len(counts), records=self._wanted - self._read)
            self._poll(consumer, ends)

    def _goes_on(
        self, firsts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> bool:
        """Tell whether it can continue where it was: no record since then is gone."""
        return self._positions.keys() == ends.keys() and all(
            firsts[place] <= position <= ends[place] for place, position in self._positions.items()
        )

    def _starts(
        self,
        consumer: KafkaConsumer,
        firsts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
    ) -> dict[TopicPartition, int]:
        """Return where each partition begins to be read."""
        now_ms = time.time_ns() // 1_000_000
        windowed = {
            place: max(now_ms - window_ms, 0)
            for place in ends
            if (window_ms := self._windows[self._suffix(place.topic)]) is not None
        }
        first_since = consumer.offsets_for_times(windowed)
        starts = dict(firsts)
        for place in windowed:
            since = ends[place] if first_since.get(place) is None else first_since[place].offset
            least = self._at_least.get(self._suffix(place.topic), 0)
            starts[place] = max(firsts[place], min(since, ends[place] - least))
        return starts

    def _poll(self, consumer: TopicConsumer, ends: Mapping[TopicPartition, int]) -> None:
        asked_s = time.monotonic()
        newest_ends, open_places = dict(ends), set(ends)
        pace = Pace(*self._gather_s)
        while not self._stop.is_set():
            behind = [place for place, end in newest_ends.items() if self._positions[place] < end]
            polled = consumer.poll(timeout_ms=_POLL_MS, max_records=5_000)
            rows = [raw_record(record) for records in polled.values() for record in records]
            ask = time.monotonic() - asked_s > _ASK_S
            # Ask before anything is taken: what fails here is read again, and taken once. Only a
            # place that is behind may stand beyond its newest record, behind marks that nobody
            # sees. For an answer the library looks at every partition: all of them, after each
            # poll, took four fifths of this process's time.
            asked = {place: position_of(consumer, place) for place in behind}
            positions = {**self._positions, **_behind(polled)}
            positions |= {place: max(asked[place], positions[place]) for place in asked}
            open_places = {place for place in open_places if positions[place] < ends[place]}
            if rows:
                self._take(rows)
                self._read += len(rows)
            self._positions = positions
            self._note({place: newest_ends[place] - positions[place] for place in behind}, rows)
            if not self._ready and not open_places:
                self._reached()
            if rows and self._ready:
                self._stop.wait(pace.wait_s(len(rows), time.monotonic()))
            if ask:
                # A leader that is gone sends nothing; only a question shows that it is not at rest.
                newest_ends = consumer.end_offsets([*ends], timeout_ms=REQUEST_TIMEOUT_MS)
                asked_s = time.monotonic()
            if consumer.topic_ids(self._ids) != self._ids:
                self._note_trouble("a topic was recreated, so all of them are read again")
                return

    def _reached(self) -> None:
        if not self._counted:
            self._caught_up()
            self._counted = True
        self._ready = True
        log.info("caught_up", records=self._read)

    def _note(self, late: Mapping[TopicPartition, int], rows: Iterable[RawRecord]) -> None:
        behind = dict.fromkeys(self._windows, 0)
        newest = {suffix: topic.newest_ms for suffix, topic in self._topics.items()}
        for place, number in late.items():
            behind[self._suffix(place.topic)] += max(number, 0)
        for row in rows:
            suffix = self._suffix(row.topic)
            newest[suffix] = max(newest.get(suffix, 0), row.append_ms)
        self._topics = {
            suffix: FollowedTopic(number, newest.get(suffix, 0))
            for suffix, number in behind.items()
        }

    def _suffix(self, topic: str) -> str:
        suffix = self._names.suffix(topic)
        assert suffix is not None, "only our own topics are followed"
        return suffix


def _behind(polled: Mapping[TopicPartition, Sequence[ConsumerRecord]]) -> dict[TopicPartition, int]:
    """Return the offsets behind the newest records."""
    return {place: records[-1].offset + 1 for place, records in polled.items() if records}
