"""The options that commands share which change a group."""

from dataclasses import dataclass

from fairlead.cli.change import rule_flags as flags

__all__ = [
    "ChangeOptions",
    "GoneRules",
    "GoneSingleRules",
    "NamedOptions",
    "NewGroupOptions",
    "PresenceOptions",
    "RuleOptions",
]

WAIT_SECONDS = 15.0
"""The default of ``--wait``."""


@dataclass(frozen=True)
class ChangeOptions:
    """Who changes rules and why; whether to write, and how long to wait for the engine."""

    because: flags.BecauseFlag = None
    by: flags.ByFlag = None
    dry_run: flags.DryRunFlag = False
    wait: flags.WaitFlag = WAIT_SECONDS


@dataclass(frozen=True)
class NewGroupOptions:
    """Whether the group may be unknown."""

    new_group: flags.NewGroupFlag = False


@dataclass(frozen=True)
class PresenceOptions(NewGroupOptions):
    """Whether the clients of the rules may be absent."""

    absent_ok: flags.AbsentFlag = False


@dataclass(frozen=True)
class RuleOptions:
    """The rules of a whole group."""

    strategy: flags.StrategyFlag = None
    options: flags.OptionsFlag = None
    lease_ms: flags.LeaseFlag = None
    margin_ms: flags.MarginFlag = None
    trigger_ms: flags.TriggerFlag = None
    drain_deadline_ms: flags.DrainDeadlineFlag = None
    pull_max_idle_ms: flags.PullMaxIdleFlag = None
    restart_grace_ms: flags.RestartGraceFlag = None
    settle_ms: flags.SettleFlag = None
    slots: flags.SlotsFlag = None
    mode: flags.ModeFlag = None
    on_mute: flags.OnMuteFlag = None
    react: flags.ReactFlag = None
    start_policy: flags.StartPolicyFlag = None
    retry_topics: flags.RetryTopicsFlag = None
    take_over: flags.TakeOverFlag = None
    weigh_by: flags.WeighByFlag = None
    weigh_over_ms: flags.WeighOverFlag = None
    weigh_change_percent: flags.WeighChangeFlag = None
    quota: flags.QuotaFlag = None


@dataclass(frozen=True)
class NamedOptions:
    """The rules that name clients and queues."""

    only: flags.OnlyFlag = None
    topics: flags.TopicsFlag = None
    if_nobody: flags.IfNobodyFlag = None
    pin: flags.PinFlag = None
    ban: flags.BanFlag = None
    weight: flags.WeightFlag = None
    capacity: flags.CapacityFlag = None
    drain: flags.DrainFlag = None


@dataclass(frozen=True)
class GoneRules:
    """The rules of a whole group to remove."""

    pause: flags.PauseGone = False
    strategy: flags.StrategyGone = False
    timing: flags.TimingGone = False
    slots: flags.SlotsGone = False
    mode: flags.ModeGone = False
    on_mute: flags.OnMuteGone = False
    react: flags.ReactGone = False
    start_policy: flags.StartPolicyGone = False
    retry_topics: flags.RetryTopicsGone = False
    take_over: flags.TakeOverGone = False
    weighing: flags.WeighingGone = False
    quota: flags.QuotaGone = False
    designated: flags.DesignatedGone = False


@dataclass(frozen=True)
class GoneSingleRules:
    """The rules of queues and clients to remove."""

    pin: flags.PinGone = None
    ban: flags.BanGone = None
    weight: flags.WeightGone = None
    capacity: flags.CapacityGone = None
    drain: flags.DrainGone = None
