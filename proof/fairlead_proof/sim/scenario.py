"""The parameters of one schedule, drawn once: times, sizes, strategy, clock drift."""

from dataclasses import dataclass, replace

from fairlead.core.rules.group_rules import GroupRules
from fairlead_proof.sim.chance import Chance

__all__ = ["Scenario", "draw_scenario"]

GROUP = "orders"
SWITCH_MS = (0, 500, 2_000)


@dataclass(frozen=True, slots=True)
class Scenario:
    """The constants of a schedule. Times are in milliseconds.

    ``drift_permille``: how much faster or slower a client's clock may run. ``chain_cap``: how many
    unresolved grants a queue may have. ``client_deadline_ms``: the clients' drain deadline, which
    may exceed the group's rule. ``switch_ms``: how long a growing topic waits for the bounds of its
    new queues; 0 in one of three schedules.
    """

    group: str
    lease_ms: int
    heartbeat_ms: int
    progress_ms: int
    margin_ms: int
    tick_ms: int
    trigger_ms: int
    drain_deadline_ms: int
    drift_permille: int
    strategy: str
    consume_from: str
    clients: int
    queues: int
    chain_cap: int
    faults: int
    commits: bool
    mode: str
    on_mute: str
    client_deadline_ms: int
    start_policy: str = "fairlead"
    switch_ms: int = 0

    @property
    def rules(self) -> GroupRules:
        """The rules of a group without its own."""
        return GroupRules(
            strategy=self.strategy,
            lease_ms=self.lease_ms,
            margin_ms=self.margin_ms,
            trigger_ms=self.trigger_ms,
            drain_deadline_ms=self.drain_deadline_ms,
            mode=self.mode,
            on_mute=self.on_mute,
            start_policy=self.start_policy,
        )

    @property
    def gone_ms(self) -> int:
        """Time from a member's last heartbeat to its death in the engine, and a little more."""
        return self.lease_ms + self.margin_ms + 2 * self.tick_ms


def draw_scenario(chance: Chance) -> Scenario:
    """Draw the parameters of a schedule.

    The margin covers one forward jump of the broker's clock within a lease (two tick periods) and
    the drift of the client's clock, and hardly more, so that too short margins show.
    """
    lease_ms = chance.pick((3_000, 4_000, 6_000, 10_000))
    tick_ms = chance.pick((500, 1_000))
    drift_permille = chance.pick((0, 5, 20))
    drain_deadline_ms = chance.pick((3_000, 6_000, 30_000))
    impatient = chance.happens(0.15)
    drawn = Scenario(
        group=GROUP,
        lease_ms=lease_ms,
        heartbeat_ms=lease_ms * 3 // 10,
        progress_ms=chance.pick((1_000, 1_500, 2_500)),
        margin_ms=2 * tick_ms + lease_ms * drift_permille // 500 + 50,
        tick_ms=tick_ms,
        trigger_ms=chance.pick((5_000, 10_000, 20_000)),
        drain_deadline_ms=drain_deadline_ms,
        drift_permille=drift_permille,
        strategy=chance.pick(("AVG", "AVG", "STICKY", "AVG_BY_CIRCLE", "CONSISTENT_HASH")),
        consume_from=chance.pick(("first_offset", "last_offset")),
        clients=chance.between(3, 5),
        queues=chance.between(10, 16),
        chain_cap=chance.pick((1, 2, 2, 2, 3)),
        faults=chance.between(17, 25),
        commits=chance.happens(0.8),
        mode="eager" if chance.happens(0.06) else "cooperative",
        on_mute="force" if impatient else "wait",
        client_deadline_ms=30_000 if impatient else drain_deadline_ms,
    )
    # Computed from earlier draws: another draw would change the schedule of every seed.
    rocketmq = (drawn.clients + drawn.queues + drawn.faults) % 5 == 0
    return replace(
        drawn,
        start_policy="rocketmq" if rocketmq else "fairlead",
        switch_ms=SWITCH_MS[(drawn.queues + drawn.faults) % len(SWITCH_MS)],
    )
