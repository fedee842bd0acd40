"""The rules of a group as an operator writes them in conf/: defaults, and what a group changes.

The bounds are those of the protocol (docs/protocol.md, section 3.10): what is loaded here can be a
rule. Whether an engine carries it out yet is decided where rules are published.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

LeaseMs = Annotated[int, Field(ge=1_000, le=600_000)]
MarginMs = Annotated[int, Field(ge=1, le=600_000)]
TriggerMs = Annotated[int, Field(ge=1_000, le=3_600_000)]
DrainDeadlineMs = Annotated[int, Field(ge=1_000, le=3_600_000)] | Literal["never"]
PullMaxIdleMs = Annotated[int, Field(ge=1, le=3_600_000)] | Literal["never"]
RestartGraceMs = Annotated[int, Field(ge=0, le=3_600_000)]
SettleMs = Annotated[int, Field(ge=0, le=600_000)]
StrategyName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
Slots = Literal["subscribers", "group"]
Mode = Literal["cooperative", "eager"]
OnMute = Literal["wait", "force"]
React = Literal["on_change", "on_tick"]
StartPolicy = Literal["fairlead", "rocketmq"]


class WeighingRule(BaseModel):
    """What queues weigh, for a strategy that balances by weight."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Literal["count", "rate", "lag"]
    over_ms: Annotated[int, Field(ge=1_000, le=3_600_000)] = 60_000
    change_percent: Annotated[int, Field(ge=0, le=10_000)] = 50


class GroupRules(BaseModel):
    """Every rule of a group, with its value.

    A member counts as gone when its last heartbeat is older than ``lease_ms + margin_ms`` on the
    clock of the log; the client itself stops after ``lease_ms``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyName
    strategy_options: dict[str, Any]
    lease_ms: LeaseMs
    margin_ms: MarginMs
    trigger_ms: TriggerMs
    drain_deadline_ms: DrainDeadlineMs
    pull_max_idle_ms: PullMaxIdleMs
    restart_grace_ms: RestartGraceMs
    settle_ms: SettleMs
    pause: bool
    slots: Slots
    mode: Mode
    on_mute: OnMute
    react: React
    start_policy: StartPolicy
    weighing: WeighingRule


class GroupOverrides(BaseModel):
    """What one group has otherwise than ``[group_defaults]``; None: as the defaults.

    ``designated`` is a rule of single groups, which has no default: machines are designated for a
    group. Its value is read, and refused, by the core itself, where rules are published.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyName | None = None
    strategy_options: dict[str, Any] | None = None
    lease_ms: LeaseMs | None = None
    margin_ms: MarginMs | None = None
    trigger_ms: TriggerMs | None = None
    drain_deadline_ms: DrainDeadlineMs | None = None
    pull_max_idle_ms: PullMaxIdleMs | None = None
    restart_grace_ms: RestartGraceMs | None = None
    settle_ms: SettleMs | None = None
    pause: bool | None = None
    slots: Slots | None = None
    mode: Mode | None = None
    on_mute: OnMute | None = None
    react: React | None = None
    start_policy: StartPolicy | None = None
    designated: dict[str, Any] | None = None
    weighing: WeighingRule | None = None

    def over(self, defaults: GroupRules) -> GroupRules:
        """Return the defaults with this group's own values in their place."""
        own = {name: value for name, value in self if value is not None and name != "designated"}
        return defaults.model_copy(update=own)
