"""One gateway process: the real gateway without input and output, on the simulated log.

Several of them stand behind one address. A process reads the whole log with delays, writes through
its own connection, may stand still, and forgets everything when it dies.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from fairlead_client.model import Process, Subscription
from fairlead_client.thin.thin_words import Poll

from fairlead.gateway import poll_words
from fairlead.gateway.client_state import StateSeal
from fairlead.gateway.exchange import PollRequest
from fairlead.gateway.gateway import Gateway, GatewayTimes
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import Append, Body, Reply
from fairlead.gateway.session_log import incarnation_of_session
from fairlead.wire.partition import partition_of_client
from fairlead.wire.raw import RawRecord
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.kafka import CLOCK_BEGIN_MS, Kafka, Partition
from fairlead_proof.sim.machine import Machine, OnMachine
from fairlead_proof.sim.producer import Producer, Weather
from fairlead_proof.sim.scenario import Scenario
from fairlead_proof.sim.timeline import Timeline

__all__ = ["SEAL", "GatewayEnvironment", "GatewayProcess"]

ASSIGNMENTS_PARTITIONS = 4
SEAL = StateSeal([b"simulated"])
OFTEN_MS = (1, 40)
SELDOM_MS = (40, 500)


class GatewayEnvironment(Protocol):
    """The environment of a gateway."""

    timeline: Timeline
    chance: Chance
    kafka: Kafka
    scenario: Scenario

    def narrate(self, who: str, what: str, *values: object) -> None:
        """Add a line to the story."""

    def note(self, kind: str) -> None:
        """Count something of this kind."""


@dataclass(slots=True)
class _Place:
    suffix: str
    partition: Partition
    offset: int


@dataclass(slots=True)
class GatewayProcess(OnMachine):
    """A process from its start to its end.

    Attributes:
        stuck_until_ms: until then it reads nothing.
        slowness: how many times slower than others it reads the log.
    """

    world: GatewayEnvironment
    number: int
    gateway: Gateway = field(init=False)
    machine: Machine = field(init=False)
    weather: Weather = field(init=False)
    stuck_until_ms: int = 0
    _producer: Producer = field(init=False)
    _places: list[_Place] = field(init=False)
    _skew_ms: int = 0
    slowness: int = 1
    _reads_ms: int = 0
    _requests: int = 0
    _inbox: list[Callable[[], None]] = field(default_factory=list)
    _askers: dict[int, Callable[[Body], None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start the process; it has read the log up to now when it begins to answer."""
        world = self.world
        scenario = world.scenario
        self._skew_ms = world.chance.between(-1_000, 1_000)
        self.slowness = world.chance.pick((1, 1, 4, 15))
        self.weather = Weather(world.note)
        self.machine = Machine(world.timeline, 0, 0, self._turn)
        lease_ms = scenario.lease_ms
        settings = GatewayTimes(
            self.name, lease_ms, scenario.heartbeat_ms, scenario.client_deadline_ms
        )
        # Broker's clocks jump here, and the log is short: it reads everything.
        self.gateway = Gateway(settings, SEAL, 0)
        self._producer = Producer(
            (world.timeline, world.kafka, world.chance),
            self,
            self.weather,
            max(lease_ms // 2, 600),
            max(lease_ms * 2 // 5, 600),
        )
        kafka = world.kafka
        self._places = [
            _Place(suffix, kafka.partition(suffix), 0)
            for suffix in ("generations", "heartbeats", "releases")
        ]
        self._places += [
            _Place("assignments", kafka.partition("assignments", number), 0)
            for number in range(ASSIGNMENTS_PARTITIONS)
        ]
        for place in self._places:
            place.partition.followers.append(self._appended)
        self._read_to_end(self._places)

    @property
    def name(self) -> str:
        """Its name."""
        return f"gateway-{self.number}"

    def crash(self) -> None:
        """Die at once; records on their way to the broker still arrive."""
        self.world.narrate(self.name, "is killed")
        self.machine.alive = False
        self._producer.close()
        for place in self._places:
            place.partition.followers.remove(self._appended)

    # Requests.
    def ask_join(
        self,
        profile: tuple[str, Process],
        topics: tuple[Subscription, ...],
        asker: Callable[[Body], None],
    ) -> None:
        """A client joins."""

        def act() -> None:
            client_id, process = profile
            member = MemberProfile(
                principal="sim",
                group=self.world.scenario.group,
                client_id=client_id,
                process=process,
                consume_from=self.world.scenario.consume_from,
            )
            incarnation = incarnation_of_session(UUID(self.world.chance.uuid()).int)
            # It asks for the end of the generations, and reads up to there.
            self._read_to_end(self._places[:1])
            self.gateway.join(self._request(asker), incarnation, member, topics, self._now_ms)

        self._post(act)

    def ask_poll(self, poll: Poll, asker: Callable[[Body], None], *, ending: bool) -> None:
        """A client polls, or ends its session."""

        def act() -> None:
            words = poll_words.Poll(
                poll.sequence, poll.working, poll.stopped, poll.subscriptions, poll.leaving
            )
            request = PollRequest(poll.session, "sim", poll.state, words, poll.wait_ms, ending)
            self.gateway.poll(self._request(asker), request, self._now_ms)

        self._post(act)

    def _request(self, asker: Callable[[Body], None]) -> int:
        self._requests += 1
        self._askers[self._requests] = asker
        return self._requests

    def _post(self, act: Callable[[], None]) -> None:
        self._inbox.append(act)
        self.machine.wake_at(self.world.timeline.now_ms)

    @property
    def _now_ms(self) -> int:
        return CLOCK_BEGIN_MS + self.machine.local_ms + self._skew_ms

    # A turn.
    def _appended(self, record: RawRecord) -> None:
        del record
        wait_ms = self._delay_ms()
        self.machine.wake_at(self.world.timeline.now_ms + wait_ms)

    def _delay_ms(self) -> int:
        least, most = OFTEN_MS if self.world.chance.happens(0.9) else SELDOM_MS
        return self.world.chance.between(least, most) * self.slowness

    def _turn(self) -> None:
        first = self.world.chance.happens(0.5)
        if first:
            self._read()
        while self._inbox and self.alive:
            self._inbox.pop(0)()
            self._obey()
        if not first:
            self._read()
        self.gateway.passed(self._now_ms)
        self._obey()
        due_ms = self.gateway.next_deadline_ms()
        if due_ms is not None:
            self.machine.wake_at(due_ms - CLOCK_BEGIN_MS - self._skew_ms)

    def _read(self) -> None:
        world = self.world
        if world.timeline.now_ms < max(self.stuck_until_ms, self._reads_ms):
            self.machine.wake_at(max(self.stuck_until_ms, self._reads_ms))
            return
        if self.slowness > 1:
            self._reads_ms = world.timeline.now_ms + self._delay_ms()
        for place in world.chance.shuffled(self._places):
            end = place.partition.end
            if world.kafka.up and place.offset < end:
                whole = world.chance.happens(0.9)
                self._read_place(place, end if whole else world.chance.between(place.offset, end))
        if any(place.offset < place.partition.end for place in self._places):
            self.machine.wake_at(world.timeline.now_ms + self._delay_ms())

    def _read_to_end(self, places: list[_Place]) -> None:
        for place in places:
            self._read_place(place, place.partition.end)

    def _read_place(self, place: _Place, end: int) -> None:
        rows = place.partition.between(place.offset, end)
        place.offset = end
        self.gateway.read(place.suffix, rows, self._now_ms)
        self._obey()

    def _obey(self) -> None:
        for output in self.gateway.take_output():
            if isinstance(output, Append):
                self._append(output)
            elif isinstance(output, Reply):
                self._reply(output)

    def _append(self, append: Append) -> None:
        world = self.world
        number = 0
        if append.suffix == "handovers":
            number = partition_of_client(append.group, append.handed_to, ASSIGNMENTS_PARTITIONS)
        partition = world.kafka.partition(append.suffix, number)

        def answer(record: RawRecord | None) -> None:
            if record is None:
                self._post(lambda: self.gateway.failed(append.number, self._now_ms))
                return
            at = (record.partition, record.offset)
            self._post(
                lambda: self.gateway.appended(append.number, at, record.append_ms, self._now_ms)
            )

        self._producer.send(partition, append.group.encode(), append.values, answer)

    def _reply(self, reply: Reply) -> None:
        asker = self._askers.pop(reply.request, None)
        if asker is not None:
            asker(reply.body)
