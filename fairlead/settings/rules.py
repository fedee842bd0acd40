"""The rules of a group as an operator writes them in conf/: defaults, and what a group changes.

The bounds are those of the protocol (docs/protocol.md, section 3.10): what is loaded here can be a
rule. Whether an engine carries it out yet is decided where rules are published.
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
        description="A client without an appended heartbeat stops after this. At least three of "
        "client.heartbeat_ms.",
    ),
]
MarginMs = Annotated[
    int,
    Field(
        ge=1,
        le=600_000,
        description="The engine waits this much longer than the lease before it treats a client "
        "as dead. At least two of engine.tick_ms.",
    ),
]
TriggerMs = Annotated[
    int,
    Field(
        ge=1_000,
        le=3_600_000,
        description="The engine computes the group's shares again at least this often.",
    ),
]
DrainDeadlineMs = Annotated[
    Annotated[int, Field(ge=1_000, le=3_600_000)] | Literal["never"],
    Field(
        description="A client that has not stopped a queue by then is mute. Never: nobody is.",
    ),
]
PullMaxIdleMs = Annotated[
    Annotated[int, Field(ge=1, le=3_600_000)] | Literal["never"],
    Field(
        description="If a push client has not tried to pull a queue for longer, the engine gives "
        "it the queue again.",
    ),
]
RestartGraceMs = Annotated[
    int,
    Field(
        ge=0,
        le=3_600_000,
        description="How long the queues of a client that is gone wait for its client id.",
    ),
]
SettleMs = Annotated[
    int,
    Field(
        ge=0,
        le=600_000,
        description="Joins and leaves within this time of the first make one decision.",
    ),
]
StrategyName = Annotated[
    str,
    Matching(
        r"[A-Z][A-Z0-9_]{0,63}", "give the name of a strategy in capitals, such as STICKY or AVG"
    ),
    Field(
        description="Who gets which queue. STICKY: even over all topics, with the fewest moves; "
        "AVG: as in RocketMQ. strategies/README.md has the others.",
    ),
]
StrategyOptions = Annotated[
    dict[str, Any],
    Field(description="The strategy's options; strategies/README.md has those of each."),
]
Pause = Annotated[
    bool, Field(description="While this is true no shares change; owners go on working.")
]
Slots = Annotated[
    Literal["subscribers", "group"],
    Field(
        description="Who counts when a topic is shared: its subscribers, or every member of the "
        "group, as in RocketMQ."
    ),
]
Mode = Annotated[
    Literal["cooperative", "eager"],
    Field(
        description="Cooperative: a queue is granted when its holder has released it. Eager: drop "
        "and add at once, as RocketMQ; a queue may have two owners."
    ),
]
OnMute = Annotated[
    Literal["wait", "force"],
    Field(
        description="What becomes of the queues of a mute client. Force: they are taken from it, "
        "and may have two owners."
    ),
]
React = Annotated[
    Literal["on_change", "on_tick"],
    Field(
        description="When joins and leaves are shared out: at once, or at the next trigger_ms, as "
        "in RocketMQ."
    ),
]
StartPolicy = Annotated[
    Literal["fairlead", "rocketmq"],
    Field(
        description="Where queues start. With rocketmq where its computePullFromWhere says; "
        "docs/groups.md."
    ),
]
RetryTopics = Annotated[
    Literal["on_failure", "on_subscription"],
    Field(
        description="When a group's retry and dead-letter topics are made: with its first message "
        "that is sent back, or when a member subscribes to them."
    ),
]


class WeighingRule(BaseModel):
    """What queues weigh, for a strategy that balances by weight (STICKY)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Annotated[
        Literal["count", "rate", "lag"],
        Field(
            description="What a queue weighs: 1, the messages written to it per second, or those "
            "that are not processed yet."
        ),
    ]
    over_ms: Annotated[
        int, Field(ge=1_000, le=3_600_000, description="Weights are averages over this time.")
    ] = 60_000
    change_percent: Annotated[
        int,
        Field(
            ge=0,
            le=10_000,
            description="A weight in force gives way to one that differs by more.",
        ),
    ] = 50


class QuotaRule(BaseModel):
    """How much a group may have; docs/quotas.md has how to size it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    members: Annotated[
        int,
        Field(ge=1, le=100_000, description="Clients of the group; one more is refused."),
    ] = BUILT_IN.members
    topics: Annotated[
        int,
        Field(ge=1, le=10_000, description="Topics that one client subscribes to."),
    ] = BUILT_IN.topics
    queues: Annotated[
        int,
        Field(ge=1, le=1_000_000, description="Queues of all topics that the group reads."),
    ] = BUILT_IN.queues
    records_per_second: Annotated[
        int,
        Field(
            ge=10,
            le=1_000_000,
            description="Records a second that its clients write to heartbeats. Members that are "
            "there have as many again for themselves.",
        ),
    ] = BUILT_IN.records_per_second
    state_bytes: Annotated[
        int,
        Field(
            ge=100_000,
            le=1_000_000_000,
            description="Bytes that the engine keeps of the group.",
        ),
    ] = BUILT_IN.state_bytes


class GroupRules(BaseModel):
    """The rules of every group for which neither ``[group.NAME]`` nor an operator says otherwise.

    A member counts as gone when its last heartbeat is older than ``lease_ms + margin_ms`` on the
    clock of the log; the client itself stops after ``lease_ms``.
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
    weighing: WeighingRule
    quota: QuotaRule


class GroupOverrides(BaseModel):
    """What one group has otherwise than ``[group_defaults]``: any of its keys, and ``designated``.

    It wins over what an operator sets while the engine runs, at each start (docs/groups.md).
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
    # Its value is read, and refused, by the core itself, where rules are published.
    designated: (
        Annotated[
            dict[str, Any],
            Field(
                description="Only these members consume; the others own nothing. Left out: all "
                "do. A rule of single groups alone.",
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
        """Return the defaults with this group's own values in their place."""
        own = {name: value for name, value in self if value is not None and name != "designated"}
        return defaults.model_copy(update=own)
