"""The rules of a group as an operator writes them in conf/: defaults, and the changes of a group.

The bounds are those of the protocol (docs/protocol.md, section 3.10), so every loaded value can be
a rule. The code that publishes rules decides whether an engine supports it.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fairlead.core.rules.quota import BUILT_IN
from fairlead.settings.values import Matching

LeaseMs = Annotated[
    int,
    Field(
        ge=1_000,
        le=600_000,
        description="A client stops working if no broker has appended a heartbeat of it for this "
        "time. Too short: clients lose their queues when a broker fails over (`fairlead doctor` "
        "says how long that takes). Too long: the queues of a dead client wait. At least three "
        "times client.heartbeat_ms.",
    ),
]
MarginMs = Annotated[
    int,
    Field(
        ge=1,
        le=600_000,
        description="The engine waits this much longer than the lease before it treats a client "
        "as dead. Too short: with clocks apart, a queue may have two owners. Too long: the queues "
        "of a dead client wait. At least twice engine.tick_ms.",
    ),
]
TriggerMs = Annotated[
    int,
    Field(
        ge=1_000,
        le=3_600_000,
        description="The engine checks the group's shares again at least this often. Joins and "
        "leaves wait for it only if react is on_tick.",
    ),
]
DrainDeadlineMs = Annotated[
    Annotated[int, Field(ge=1_000, le=3_600_000)] | Literal["never"],
    Field(
        description="How long after a drop a client that still heartbeats may keep the queue; then "
        "it counts as mute (see on_mute), and an alarm names it. Too short: clients with slow "
        "messages count as mute. never: no alarm, and the queue waits without limit.",
    ),
]
PullMaxIdleMs = Annotated[
    Annotated[int, Field(ge=1, le=3_600_000)] | Literal["never"],
    Field(
        description="If a push client has not tried to pull a queue for this time, the engine "
        "grants it the queue again, which restarts a stuck pull loop. never: it does nothing.",
    ),
]
RestartGraceMs = Annotated[
    int,
    Field(
        ge=0,
        le=3_600_000,
        description="How long the queues of a dead or departed client wait for the same client id "
        "to return. 0: other clients get them at once. Longer: a restart moves no queue, but "
        "nobody reads these queues meanwhile.",
    ),
]
SettleMs = Annotated[
    int,
    Field(
        ge=0,
        le=600_000,
        description="How long the engine collects joins and leaves after the first one, to share "
        "queues once. 0: each change is shared at once, so a rolling deploy moves queues often.",
    ),
]
StrategyName = Annotated[
    str,
    Matching(
        r"[A-Z][A-Z0-9_]{0,63}", "give the name of a strategy in capitals, such as STICKY or AVG"
    ),
    Field(
        description="How the engine shares queues. STICKY: evenly over all topics, with the fewest "
        "moves; AVG: as RocketMQ does. strategies/README.md has the others.",
    ),
]
StrategyOptions = Annotated[
    dict[str, Any],
    Field(description="The options of the strategy; strategies/README.md lists them."),
]
Pause = Annotated[
    bool,
    Field(
        description="While this is true the engine moves no queue: owners work on, and queues of "
        "departed clients have no owner."
    ),
]
Slots = Annotated[
    Literal["subscribers", "group"],
    Field(
        description="Which members share a topic: its subscribers, or every member of the group, "
        "as in RocketMQ. With group, members that do not subscribe leave their queues unread."
    ),
]
Mode = Annotated[
    Literal["cooperative", "eager"],
    Field(
        description="cooperative: a new owner starts when the old one has released the queue. "
        "eager: the new owner starts at once, as in RocketMQ, and a queue may have two owners for "
        "a while."
    ),
]
OnMute = Annotated[
    Literal["wait", "force"],
    Field(
        description="What happens to the queues of a mute client. wait: they stay with it. force: "
        "other clients get them, and a queue may have two owners."
    ),
]
React = Annotated[
    Literal["on_change", "on_tick"],
    Field(
        description="When the engine reacts to joins and leaves: at once, or at the next "
        "trigger_ms, as in RocketMQ."
    ),
]
StartPolicy = Annotated[
    Literal["fairlead", "rocketmq"],
    Field(
        description="Where a queue starts that the group has never read. rocketmq: as RocketMQ's "
        "computePullFromWhere; docs/groups.md explains both."
    ),
]
TakeOver = Annotated[
    Literal["all_attached", "never"],
    Field(
        description="When a group whose members follow RocketMQ's own rebalance becomes the "
        "engine's: as soon as all members that its brokers list are attached, or not at all. Under "
        "never a group that is the engine's already goes back."
    ),
]
RetryTopics = Annotated[
    Literal["on_failure", "on_subscription"],
    Field(
        description="When the bridge creates a group's retry and dead-letter topics: for the first "
        "message that a client sends back, or as soon as a member subscribes to them."
    ),
]


class WeighingRule(BaseModel):
    """The weights of queues, for a strategy that balances by weight (STICKY)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Annotated[
        Literal["count", "rate", "lag"],
        Field(
            description="The weight of a queue. count: 1 for each; rate: messages written to it "
            "per second; lag: messages not processed yet."
        ),
    ]
    over_ms: Annotated[
        int,
        Field(
            ge=1_000,
            le=3_600_000,
            description="Weights are averages over this time. Shorter: load peaks move queues.",
        ),
    ] = 60_000
    change_percent: Annotated[
        int,
        Field(
            ge=0,
            le=10_000,
            description="A measured weight replaces the weight in force only if they differ by "
            "more than this. Smaller: queues move more often.",
        ),
    ] = 50


class QuotaRule(BaseModel):
    """Limits of a group; docs/quotas.md explains how to choose them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    members: Annotated[
        int,
        Field(
            ge=1,
            le=100_000,
            description="The most clients of the group; the engine refuses one more.",
        ),
    ] = BUILT_IN.members
    topics: Annotated[
        int,
        Field(ge=1, le=10_000, description="The most topics that one client may subscribe to."),
    ] = BUILT_IN.topics
    queues: Annotated[
        int,
        Field(
            ge=1, le=1_000_000, description="The most queues, of all topics that the group reads."
        ),
    ] = BUILT_IN.queues
    records_per_second: Annotated[
        int,
        Field(
            ge=10,
            le=1_000_000,
            description="The most records per second that its clients may write to heartbeats. "
            "Present members have the same number again for themselves alone.",
        ),
    ] = BUILT_IN.records_per_second
    state_bytes: Annotated[
        int,
        Field(
            ge=100_000,
            le=1_000_000_000,
            description="The most bytes of state that the engine keeps for the group.",
        ),
    ] = BUILT_IN.state_bytes


class GroupRules(BaseModel):
    """The rules of every group, unless ``[group.NAME]`` or an operator sets another value.

    The engine treats a member as dead when its last heartbeat is older than ``lease_ms +
    margin_ms`` on the clock of the log; the client itself stops after ``lease_ms``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyName
    strategy_options: StrategyOptions
    lease_ms: LeaseMs
    margin_ms: MarginMs
    trigger_ms: TriggerMs
    drain_deadline_ms: DrainDeadlineMs
    pull_max_idle_ms: PullMaxIdleMs
    restart_grace_ms: RestartGraceMs
    settle_ms: SettleMs
    pause: Pause
    slots: Slots
    mode: Mode
    on_mute: OnMute
    react: React
    start_policy: StartPolicy
    retry_topics: RetryTopics
    take_over: TakeOver
    weighing: WeighingRule
    quota: QuotaRule


class GroupOverrides(BaseModel):
    """The rules of one group: any key of ``[group_defaults]``, and ``designated``.

    At each start of the engine these win over what an operator set while it ran (docs/groups.md).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyName | None = None
    strategy_options: StrategyOptions | None = None
    lease_ms: LeaseMs | None = None
    margin_ms: MarginMs | None = None
    trigger_ms: TriggerMs | None = None
    drain_deadline_ms: DrainDeadlineMs | None = None
    pull_max_idle_ms: PullMaxIdleMs | None = None
    restart_grace_ms: RestartGraceMs | None = None
    settle_ms: SettleMs | None = None
    pause: Pause | None = None
    slots: Slots | None = None
    mode: Mode | None = None
    on_mute: OnMute | None = None
    react: React | None = None
    start_policy: StartPolicy | None = None
    retry_topics: RetryTopics | None = None
    take_over: TakeOver | None = None
    # The core itself checks the value, when rules are published.
    designated: (
        Annotated[
            dict[str, Any],
            Field(
                description="Only these members get queues; the others stand by. Left out: all "
                "members do. Only a single group can have this rule.",
                examples=[
                    {
                        "only": ["192.168.0.6", "10.0.0.0/8", "app-*", "192.168.0.9@4121#1"],
                        "topics": ["orders"],
                        "if_nobody": "nobody",
                    }
                ],
            ),
        ]
        | None
    ) = None
    weighing: WeighingRule | None = None
    quota: QuotaRule | None = None

    def over(self, defaults: GroupRules) -> GroupRules:
        """Return the defaults, overridden by this group's own values."""
        own = {name: value for name, value in self if value is not None and name != "designated"}
        return defaults.model_copy(update=own)
