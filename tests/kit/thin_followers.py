"""Thin clients that stand by, with real gateways and a whole engine, in memory.

The sessions of clients and gateways and the engine's shard machine are the real ones. The cluster
shares queues out as RocketMQ does: each client for itself, from one list of ids. Answers get lost,
gateways are replaced by others that remember nothing, and clients stop when they please.
"""

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from fairlead_client.model import DataPlane, Process, Queue, Subscription
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_words import Joined, Poll, PollAnswer

from fairlead.gateway import poll_words
from fairlead.gateway.client_state import StateSeal
from fairlead.gateway.exchange import PollRequest
from fairlead.gateway.gateway import Gateway, GatewayTimes
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import Append, Body, Left, Refusal, Reply
from fairlead.gateway.session_log import incarnation_of_session
from tests.kit.followers import GROUP, FollowerWorld
from tests.kit.memory_topics import BOUNDS_END, NAMES, START_MS, shard_of
from tests.kit.thin_follower import ThinFollower

__all__ = ["ThinWorld"]

_LEASE_MS = 10_000
_SEAL = StateSeal([b"the key of these gateways"])
_READ = ("generations", "heartbeats", "releases", "assignments")


@dataclass(slots=True)
class _Served:
    """A gateway, and how far it has read each partition."""

    gateway: Gateway
    read: dict[tuple[str, int], int] = field(default_factory=dict)


@dataclass(slots=True)
class ThinWorld(FollowerWorld):
    """An engine, gateways, a cluster with the looks of its bridge, and thin clients.

    Attributes:
        end: where every queue ends.
        done: how far each queue was processed at most.
        committed: what the brokers have of each queue.
        loses: the chance that an answer gets lost.
        replaces: the chance that a gateway is replaced, in each second.
    """

    chance: Random = field(default_factory=Random)
    end: int = BOUNDS_END
    thins: list[ThinFollower] = field(default_factory=list)
    served: list[_Served] = field(default_factory=list)
    done: dict[Queue, int] = field(default_factory=dict)
    committed: dict[Queue, int] = field(default_factory=dict)
    loses: float = 0.0
    replaces: float = 0.0
    _asked: dict[tuple[int, int], tuple[ThinFollower, int]] = field(default_factory=dict)
    _requests: int = 0

    def set_up(self, gateways: int = 2) -> None:
        """Start a driver and gateways."""
        self._claim()
        self.topics.tick(1)
        self.served = [self._started() for _ in range(gateways)]

    def _claim(self) -> None:
        record = {"kind": "generation", "driver": str(UUID(int=self.generation))}
        self.topics.append("generations", 0, b"d", record | {"started_ms": 1, "version": "0"})

    def restart_driver(self) -> None:
        """Another driver starts with the same state."""
        self.generation += 1
        self._claim()
        self.topics.tick(self.generation)

    def lose_all(self) -> None:
        """The checkpoint is lost: another driver starts without a state."""
        self.generation += 1
        self._claim()
        self.generation -= 1
        self.lose_state()

    def _started(self) -> _Served:
        self._requests += 1
        served = _Served(Gateway(GatewayTimes(f"g{self._requests}", _LEASE_MS), _SEAL, START_MS))
        self._read(served)
        return served

    def follow_thin(self, client_id: str) -> ThinFollower:
        """A thin client starts: the brokers list it from now on."""
        started = ThinFollower(client_id, self)
        self.cluster.ids.add(started.consumer)
        self.thins.append(started)
        return started

    def kill(self, thin: ThinFollower) -> None:
        """End a client without a word; the brokers notice."""
        thin.gone = True
        thin.held.clear()
        self.cluster.ids.discard(thin.consumer)

    @property
    def now_ms(self) -> int:
        """The clock of everybody."""
        return self.topics.now_ms

    def share_of(self, consumer: str) -> list[Queue]:
        """Return what AVG gives to a consumer."""
        share = self.cluster.share_of(consumer, self.queues["orders"])
        return [Queue(*each) for each in share]

    def gone(self, thin: ThinFollower) -> None:
        """The brokers list a client no more that has closed."""
        self.cluster.ids.discard(thin.consumer)

    # The network.
    def join_thin(self, thin: ThinFollower, number: int, joins: int) -> None:
        """A client joins at any gateway."""
        profile = MemberProfile(
            principal="team",
            group=GROUP,
            client_id=thin.client_id,
            process=Process(START_MS, str(UUID(int=7))),
            joins=joins,
            consume_from="first_offset",
            data_plane=DataPlane("rocketmq", thin.consumer),
            follows="AVG",
        )
        served = self.chance.choice(self.served)
        session = incarnation_of_session(self.chance.getrandbits(128))
        # A gateway reads every generation that was claimed before the request.
        self._read(served)
        topics = (Subscription("orders"),)
        served.gateway.join(
            self._request(served, thin, number), session, profile, topics, self.now_ms
        )
        self._deliver(served)

    def poll(self, thin: ThinFollower, said: Poll, *, ending: bool) -> None:
        """A client polls any gateway."""
        words = poll_words.Poll(
            said.sequence,
            said.working,
            said.stopped,
            said.subscriptions,
            leaving=said.leaving or ending,
            standing=None if ending else said.standing,
            frozen=said.frozen,
            ending=ending,
        )
        served = self.chance.choice(self.served)
        asked = PollRequest(said.session, "team", said.state, words, said.wait_ms, ending)
        request = self._request(served, thin, said.sequence)
        served.gateway.poll(request, asked, self.now_ms)
        self._deliver(served)

    def _request(self, served: _Served, thin: ThinFollower, number: int) -> int:
        self._requests += 1
        self._asked[id(served), self._requests] = (thin, number)
        return self._requests

    def _deliver(self, served: _Served) -> None:
        """Do what a gateway wants done; it reads what it has written."""
        for output in served.gateway.take_output():
            match output:
                case Append():
                    self._append(served, output)
                case Reply(request, body):
                    thin, number = self._asked.pop((id(served), request))
                    if not thin.gone and self.chance.random() >= self.loses:
                        self._hear(thin, number, body)

    def _append(self, served: _Served, wanted: Append) -> None:
        if wanted.suffix == "handovers":
            return
        row = [self.topics.append_of(wanted.suffix, GROUP, value) for value in wanted.values][-1]
        at = row.partition, row.offset
        served.gateway.appended(wanted.number, at, row.append_ms, self.now_ms)
        self._read(served)
        self._deliver(served)

    def _read(self, served: _Served) -> None:
        for topic, partition in self.topics.places():
            suffix = NAMES.suffix(topic)
            if suffix not in _READ:
                continue
            log = self.topics.log(topic, partition)
            begin = served.read.get((topic, partition), 0)
            served.read[topic, partition] = len(log)
            if begin < len(log):
                served.gateway.read(suffix, log[begin:], self.now_ms)

    def _hear(self, thin: ThinFollower, number: int, body: Body) -> None:
        session, now_ms = thin.session, self.now_ms
        match body:
            case Joined():
                thin.do(session.joined(number, body, now_ms))
            case PollAnswer():
                thin.do(session.answered(number, body, now_ms))
            case Left():
                thin.do(session.left(now_ms))
            case Refusal(status=409, reason=reason):
                thin.do(session.lost(number, reason, now_ms))
            case Refusal():
                assert body.status == 503, body
                thin.do(session.failed(number, now_ms))

    # Time.
    def go_on_thin(self, seconds: int) -> None:
        """Let time pass in steps of a tenth of a second; everybody does what chance has it do."""
        for _ in range(seconds):
            self.look_again()
            self.topics.tick(self.generation)
            if self.chance.random() < self.replaces:
                self.served[self.chance.randrange(len(self.served))] = self._started()
            for _ in range(10):
                self.topics.now_ms += 100
                self._step()

    def _step(self) -> None:
        chance = self.chance
        if chance.random() < 0.5:
            self.run(shard_of(GROUP), chance=chance)
            self.deliver()
        for served in self.served:
            if chance.random() < 0.6:
                self._read(served)
            served.gateway.passed(self.now_ms)
            self._deliver(served)
        for thin in chance.sample(self.thins, len(self.thins)):
            thin.go_on(chance)
            self.check_thin_owners()

    def check_thin_owners(self) -> None:
        """Nobody works on a queue beside another one whom the engine has granted it."""
        seen: dict[Queue, ThinFollower] = {}
        for thin in self.thins:
            for queue in thin.held if not thin.gone else ():
                if not thin.may_work(queue):
                    continue
                other = seen.setdefault(queue, thin)
                if other is thin:
                    continue
                both = [each.session.owned.get(queue) for each in (thin, other)]
                granted = [self._is_granted(each, queue) for each in (thin, other)]
                assert not any(granted), (queue, both, thin.client_id, other.client_id)

    def _is_granted(self, thin: ThinFollower, queue: Queue) -> bool:
        name = thin.names[queue]
        return (
            name is not None
            and thin.session.standing is Standing.OWN
            and name == (thin.session.works(queue, self.now_ms))
        )

    def until(self, footing: str | None, seconds: int) -> int:
        """Let time pass until the newest decision says this footing; return the seconds."""
        for second in range(seconds):
            if self.decisions and self.footing() == footing:
                return second
            self.go_on_thin(1)
        states = [(each.client_id, each.session.standing, each.names) for each in self.thins]
        raise AssertionError((footing, self.footing(), states))
