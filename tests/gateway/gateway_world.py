"""One or two gateways on a log that a test leads by hand, and a thin client that polls them."""

from dataclasses import dataclass, field
from typing import Any

import orjson
from fairlead_client.model import DataPlane, Epoch, Position, Process, Queue, Subscription
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_words import Frozen, Joined, PollAnswer, Stopped, Work

from fairlead.gateway.client_state import StateSeal
from fairlead.gateway.exchange import PollRequest
from fairlead.gateway.gateway import Gateway, GatewayTimes
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import Append, Body, Refusal, Reply
from fairlead.gateway.poll_words import Poll
from fairlead.gateway.session_log import incarnation_of_session
from fairlead.wire.raw import RawRecord

GROUP = "orders"
CLIENT = "c1"
QUEUE = Queue("orders", "main", 0)
LEASE_MS = 10_000
SEAL = StateSeal([b"the key of these gateways"])


@dataclass
class World:
    """A log, the gateways that read and write it, and a clock.

    Attributes:
        log: every record that was appended: topic, row.
        delivers: whether what a gateway appends is confirmed at once, and read by all at once.
    """

    now_ms: int = 1_000_000
    log: list[tuple[str, RawRecord]] = field(default_factory=list)
    gateways: list[Gateway] = field(default_factory=list)
    answers: dict[int, Body] = field(default_factory=dict)
    delivers: bool = True
    unconfirmed: list[tuple[Gateway, Append]] = field(default_factory=list)
    _read: list[int] = field(default_factory=list)
    _requests: int = 0

    def gateway(self, *, has_read: bool = True) -> Gateway:
        """Start a gateway, which has read the log."""
        gateway = Gateway(GatewayTimes(f"g{len(self.gateways)}", LEASE_MS), SEAL, 0)
        self.add(gateway, has_read=has_read)
        return gateway

    def add(self, gateway: Gateway, *, has_read: bool = True) -> None:
        """Let another gateway take part."""
        self.gateways.append(gateway)
        self._read.append(0)
        if has_read:
            self.deliver(gateway)

    def deliver(self, gateway: Gateway) -> None:
        """Let a gateway read the log to its end."""
        number = next(i for i, each in enumerate(self.gateways) if each is gateway)
        while self._read[number] < len(self.log):
            suffix, row = self.log[self._read[number]]
            self._read[number] += 1
            gateway.read(suffix, [row], self.now_ms)
            self.obey(gateway)

    def append(self, suffix: str, value: bytes, key: bytes = b"") -> RawRecord:
        """Append a record; gateways read it when they are let."""
        offset = sum(topic == suffix for topic, _ in self.log)
        row = RawRecord(suffix, 0, offset, self.now_ms, True, key or GROUP.encode(), value)  # noqa: FBT003 - the row of a log has no names
        self.log.append((suffix, row))
        return row

    def obey(self, gateway: Gateway) -> None:
        """Do what a gateway wants done."""
        for output in gateway.take_output():
            if isinstance(output, Reply):
                self.answers[output.request] = output.body
            elif isinstance(output, Append):
                if self.delivers:
                    self.confirm(gateway, output)
                else:
                    self.unconfirmed.append((gateway, output))

    def confirm(self, gateway: Gateway, append: Append) -> None:
        """Append the records of a gateway, tell it, and let it read them."""
        row = None
        for value in append.values:
            row = self.append(append.suffix, value)
        assert row is not None
        gateway.appended(append.number, (row.partition, row.offset), row.append_ms, self.now_ms)
        self.obey(gateway)
        if self.delivers:
            self.deliver(gateway)

    def request(self) -> int:
        """Return the number of a new request."""
        self._requests += 1
        return self._requests

    def pass_time(self, wait_ms: int) -> None:
        """Let time pass for everybody."""
        self.now_ms += wait_ms
        for gateway in self.gateways:
            gateway.passed(self.now_ms)
            self.obey(gateway)

    # What an engine writes.
    def claim_generation(self) -> int:
        """Let an engine claim the next generation, and return it."""
        value = orjson.dumps({"v": 1, "kind": "generation", "driver": "d", "started_ms": 1})
        return self.append("generations", value).offset + 1

    def assign(
        self, session: str, epoch: Epoch, standby: str | None = None, **words: list[Any]
    ) -> None:
        """Let the engine write an assignment: lists of ``drop``, ``add`` and ``assigned``."""
        record = {
            "v": 1,
            "kind": "assignment",
            "group": GROUP,
            "client_id": CLIENT,
            "incarnation": session,
            "generation": epoch.generation,
            "epoch": epoch,
            "part": 0,
            "parts": 1,
            **{name: words.get(name, []) for name in ("drop", "add", "assigned")},
            **({} if standby is None else {"standby": standby}),
        }
        key = orjson.dumps([GROUP, CLIENT, session, 0])
        self.append("assignments", orjson.dumps(record, default=tuple), key)

    def grant(self, session: str, epoch: Epoch, *after: tuple[str, str, Epoch]) -> None:
        """Let the engine grant the queue."""
        add = {
            "queue": QUEUE,
            "epoch": epoch,
            "position": Position(0, 120),
            "after": [
                {"client_id": client, "incarnation": incarnation, "epoch": of}
                for client, incarnation, of in after
            ],
        }
        state = "gated" if after else "held"
        entry = {"queue": QUEUE, "epoch": epoch, "state": state, **(add if after else {})}
        self.assign(session, epoch, add=[add], assigned=[entry])

    def drop(self, session: str, epoch: Epoch, by: Epoch, linger_ms: int = 0) -> None:
        """Let the engine drop the queue by a later decision."""
        linger = {"linger_ms": linger_ms} if linger_ms else {}
        drop = {"queue": QUEUE, "epoch": epoch, **linger}
        entry = {"queue": QUEUE, "epoch": epoch, "state": "draining"}
        self.assign(session, by, drop=[drop], assigned=[entry])

    def notice(self, session: str, code: str, generation: int = 1, **more: Any) -> None:
        """Let the engine write a notice."""
        record = {
            "v": 1,
            "kind": "notice",
            "group": GROUP,
            "client_id": CLIENT,
            "incarnation": session,
            "generation": generation,
            "code": code,
            "message": f"the engine says {code}",
            **more,
        }
        key = orjson.dumps([GROUP, CLIENT, session, code])
        self.append("assignments", orjson.dumps(record, default=tuple), key)

    # What stands in the log.
    def written(self, kind: str) -> list[dict[str, Any]]:
        """Return the records of a kind that gateways have written."""
        records = [
            orjson.loads(row.value or b"null")
            for suffix, row in self.log
            if suffix in ("heartbeats", "releases")
        ]
        return [each for each in records if each["kind"] == kind]


@dataclass
class Thin:
    """A thin client, led by hand."""

    world: World
    principal: str = "team"
    session: str = ""
    state: str = ""
    sequence: int = 0
    groups: frozenset[str] | None = None
    """The groups in which its principal may consume; None: everywhere."""
    follows: str | None = None
    """The strategy that it can follow; None: it cannot stand by."""

    def join(self, gateway: Gateway) -> Joined:
        """Join."""
        world, request = self.world, self.world.request()
        profile = MemberProfile(
            principal=self.principal,
            group=GROUP,
            client_id=CLIENT,
            process=Process(1, "p"),
            data_plane=None if self.follows is None else DataPlane("rocketmq", "10.0.0.7@4121"),
            follows=self.follows,
        )
        session = incarnation_of_session()
        gateway.join(request, session, profile, (Subscription("orders"),), world.now_ms)
        world.obey(gateway)
        joined = world.answers[request]
        assert isinstance(joined, Joined), joined
        self.session, self.state = joined.session, joined.state
        return joined

    def ask(
        self,
        gateway: Gateway,
        *working: Work,
        stopped: tuple[Stopped, ...] = (),
        state: str | None = None,
        sequence: int | None = None,
        wait_ms: int = 0,
        leaving: bool = False,
        ending: bool = False,
        standing: Standing | None = None,
        frozen: Frozen | None = None,
    ) -> int:
        """Send a poll; return the request."""
        if sequence is None:
            self.sequence += 1
        number = self.sequence if sequence is None else sequence
        more: dict[str, Any] = {"standing": standing, "frozen": frozen, "ending": ending}
        poll = Poll(number, working, stopped, leaving=leaving or ending, **more)
        request = self.world.request()
        asked = PollRequest(
            self.session,
            self.principal,
            state or self.state,
            poll,
            wait_ms,
            ending,
            may_consume=lambda group: self.groups is None or group in self.groups,
        )
        gateway.poll(request, asked, self.world.now_ms)
        self.world.obey(gateway)
        return request

    def poll(self, gateway: Gateway, *working: Work, **more: Any) -> PollAnswer:
        """Poll, and take the answer."""
        body = self.world.answers[self.ask(gateway, *working, **more)]
        assert isinstance(body, PollAnswer), body
        self.state = body.state
        return body

    def refused(self, gateway: Gateway, *working: Work, **more: Any) -> Refusal:
        """Poll, and return the refusal."""
        body = self.world.answers[self.ask(gateway, *working, **more)]
        assert isinstance(body, Refusal), body
        return body


FIRST, SECOND = Epoch(1, 1), Epoch(1, 2)


def joined(world: World, *, gateways: int = 1) -> Thin:
    """Return a client that has joined at the first gateway, and has not polled yet."""
    world.claim_generation()
    for _ in range(gateways):
        world.gateway()
    thin = Thin(world)
    thin.join(world.gateways[0])
    return thin


def promised(world: World) -> Thin:
    """Return a client that gets the queue, under the second epoch, once its holder releases it."""
    thin, gateway = joined(world), world.gateways[0]
    world.grant(thin.session, SECOND, HOLDER)
    world.deliver(gateway)
    assert thin.poll(gateway).start == ()
    return thin


def working(world: World, *, gateways: int = 1) -> Thin:
    """Return a client that works on the queue under the first epoch."""
    thin = joined(world, gateways=gateways)
    thin.poll(world.gateways[0])
    world.grant(thin.session, FIRST)
    for gateway in world.gateways:
        world.deliver(gateway)
    answer = thin.poll(world.gateways[0])
    assert [start.epoch for start in answer.start] == [FIRST]
    return thin


def work(position: int = 120, epoch: Epoch = FIRST) -> Work:
    """Return what the client says of its work."""
    return Work(QUEUE, epoch, position)


HOLDER = ("c2", "0f8fad5b-d9cb-469f-a165-70867728950e", Epoch(1, 1))
"""A member that had the queue before, and the epoch under which it had it."""


def release(world: World, position: int, queue: Queue = QUEUE) -> None:
    """Let the former holder release the queue, or another one."""
    client_id, incarnation, epoch = HOLDER
    record = {
        "v": 1, "kind": "release", "group": GROUP, "client_id": client_id,
        "incarnation": incarnation, "queue": queue, "epoch": epoch, "position": [0, position],
    }  # fmt: skip
    world.append("releases", orjson.dumps(record, default=tuple))
