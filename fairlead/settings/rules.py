"""The rules of a group as an operator writes them in conf/: defaults, and what a group changes."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MS_MAX = 86_400_000
"""A day: no duration of a group's rules is longer."""

LeaseMs = Annotated[int, Field(ge=1_000, le=600_000)]
Ms = Annotated[int, Field(ge=1, le=MS_MAX)]
DrainDeadlineMs = Annotated[int, Field(ge=1_000, le=MS_MAX)] | Literal["never"]
StrategyName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
Slots = Literal["subscribers", "group"]
Mode = Literal["cooperative", "eager"]
OnMute = Literal["wait", "force"]


class GroupRules(BaseModel):
    """Every rule of a group, with its value.

    A member counts as gone when its last heartbeat is older than ``lease_ms + margin_ms`` on the
    clock of the log; the client itself stops after ``lease_ms``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyName
    strategy_options: dict[str, Any]
    lease_ms: LeaseMs
    margin_ms: Ms
    trigger_ms: Ms
    drain_deadline_ms: DrainDeadlineMs
    slots: Slots
    mode: Mode
    on_mute: OnMute


class GroupOverrides(BaseModel):
    """What one group has otherwise than ``[group_defaults]``; None: as the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyName | None = None
    strategy_options: dict[str, Any] | None = None
    lease_ms: LeaseMs | None = None
    margin_ms: Ms | None = None
    trigger_ms: Ms | None = None
    drain_deadline_ms: DrainDeadlineMs | None = None
    slots: Slots | None = None
    mode: Mode | None = None
    on_mute: OnMute | None = None

    def over(self, defaults: GroupRules) -> GroupRules:
        """Return the defaults with this group's own values in their place."""
        return defaults.model_copy(update=self.model_dump(exclude_none=True))
