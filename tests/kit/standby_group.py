"""A group whose members stand by, in the core alone: heartbeats, looks and answers by hand."""

from dataclasses import dataclass, field

from fairlead.core.model import DataPlane, Epoch, MemberProfile, Position
from fairlead.core.outputs import Assignment, Decision, Notice
from fairlead.core.standby_records import (
    BrokerMembers,
    Former,
    FormerQueue,
    MembersLook,
    StandbyState,
)
from fairlead.core.standing import Footing, Standing
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of

__all__ = ["BRIDGE", "StandbyGroup", "attached"]

BRIDGE = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"


def _profile(client: str, follows: str | None, life: int) -> MemberProfile:
    plane = DataPlane("rocketmq", f"10.0.0.{client}@{life}")
    return MemberProfile(consume_from="first_offset", data_plane=plane, follows=follows)


@dataclass(slots=True)
class StandbyGroup:
    """A group of RocketMQ consumers, and what its brokers list."""

    world: GroupWorld = field(default_factory=GroupWorld)
    look: int = 0
    ahead_ms: int = 0
    """So far the bridge's clock is ahead of Kafka's."""
    states: dict[str, StandbyState] = field(default_factory=dict)
    """Client -> what it says of itself."""

    @property
    def standing(self) -> Standing:
        """What the engine remembers of the footing."""
        assert self.world.state is not None
        assert self.world.state.standing is not None
        return self.world.state.standing

    def on(self) -> Footing | None:
        """Return the footing that the group has now."""
        assert self.world.state is not None
        standing = self.world.state.standing
        return None if standing is None else standing.footing

    def beat(
        self,
        client: str,
        state: StandbyState | None = None,
        *,
        follows: str = "AVG",
        life: int = 1,
        applied: Epoch | None = None,
    ) -> None:
        """A client that stands by heartbeats; without a word it says what it said last."""
        said = self.states[client] = state or self.states.get(client, "wait")
        profile = _profile(client, follows, life)
        self.world.beat(client, profile=profile, standby=said, life=life, applied=applied)

    def plain(self, client: str) -> None:
        """A member that reads RocketMQ and cannot follow heartbeats."""
        self.world.beat(client, profile=_profile(client, None, 1))

    def tell(
        self,
        clients: str,
        *others: str,
        complete: bool = True,
        uneven: str = "",
        bridge: str = BRIDGE,
    ) -> None:
        """The bridge tells whom its two brokers list; nobody has read it yet.

        ``uneven``: a client that the second broker does not list.
        """
        self.world.clock_ms += 1
        self.look += 1
        ids = [*(f"10.0.0.{client}@1" for client in clients), *others]
        fewer = [each for each in ids if each != f"10.0.0.{uneven}@1"]
        brokers = (
            BrokerMembers("broker-a", tuple(sorted(ids))),
            BrokerMembers("broker-b", tuple(sorted(fewer))),
        )
        at_ms = self.world.clock_ms + self.ahead_ms
        seen = MembersLook(GROUP, "main", bridge, self.look, complete, brokers, at_ms)
        self.world.add("offsets", seen)

    def looks(
        self,
        clients: str,
        *others: str,
        complete: bool = True,
        uneven: str = "",
        times: int = 1,
        bridge: str = BRIDGE,
    ) -> None:
        """The engine reads what the bridge tells, each look a second after the other."""
        for _ in range(times):
            self.tell(clients, *others, complete=complete, uneven=uneven, bridge=bridge)
            self.world.run()
            self.world.clock_ms += 999

    def former(
        self,
        client: str,
        held: dict[int, int | None],
        epoch: Epoch | None = None,
        *,
        part: tuple[int, int] = (0, 1),
        identity: str | None = None,
        life: int = 1,
    ) -> None:
        """A frozen client tells which queues it holds, and how far it is in each."""
        queues = tuple(
            FormerQueue(queue_of(number), None if offset is None else Position(0, offset), identity)
            for number, offset in held.items()
        )
        of = self.standing.epoch if epoch is None else epoch
        self.world.add("heartbeats", Former(GROUP, key_of(client, life), of, *part, queues))

    def freeze(self, clients: str) -> None:
        """Bring a following group of these clients to a freeze."""
        self.looks(clients, times=2)
        assert self.on() is Footing.FREEZING, self.standing
        for client in clients:
            self.beat(client, "freeze")
        self.world.run()

    def confirm(self, clients: str) -> None:
        """These clients say that they work under their grants."""
        for client in clients:
            self.beat(client, "own")
        self.world.run()

    def told(self, client: str) -> Assignment | None:
        """Return the assignment that the newest step wrote to a client; None: it wrote none."""
        key = key_of(client, 1)
        written = [each for each in self.world.outputs if isinstance(each, Assignment)]
        return next((each for each in written if each.member == key), None)

    def waits(self, client: str) -> Notice | None:
        """Return the notice of waiting that the newest step wrote to a client."""
        key = key_of(client, 1)
        written = [each for each in self.world.outputs if isinstance(each, Notice)]
        return next((each for each in written if each.member == key), None)

    def foreign(self) -> tuple[str, ...]:
        """Return the ids of foreign members."""
        return self.standing.foreign

    @property
    def decision(self) -> Decision:
        """The audit record of the newest step."""
        return self.world.decision

    def holders(self) -> dict[int, str]:
        """Return who has the only grant of each queue."""
        assert self.world.state is not None
        return {
            queue.queue_id: value.chain[-1].member.client_id
            for queue, value in sorted(self.world.state.queues.items())
            if value.chain
        }


def attached(clients: str, queues: int = 4) -> StandbyGroup:
    """Return a group in which these clients follow, and the route of their topic is known."""
    group = StandbyGroup()
    for client in clients:
        group.beat(client)
    group.world.run()
    group.world.route(queues)
    group.world.run()
    for client in clients:
        group.beat(client, "follow")
    group.world.run()
    return group
