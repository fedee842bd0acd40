"""The flags by which rules are set and unset, each explained once."""

from typing import Annotated

import typer

from fairlead.cli.completions import complete_group, complete_strategy, complete_word

ClientsArgument = Annotated[
    list[str], typer.Argument(metavar="CLIENT", help="Client ids.", show_default=False)
]
UntilEmptyFlag = Annotated[
    float | None,
    typer.Option(
        "--until-empty",
        min=0,
        help="Wait up to this many seconds until the clients have no queues.",
    ),
]
RulesArgument = Annotated[
    str,
    typer.Argument(
        metavar="GROUP",
        help="The group; '*' for the rules of all groups.",
        autocompletion=complete_group,
    ),
]

StrategyFlag = Annotated[
    str | None,
    typer.Option(
        "--strategy", "-s", help="The allocation strategy.", autocompletion=complete_strategy
    ),
]
OptionsFlag = Annotated[
    str | None, typer.Option("--options", help="Its options as JSON. Default: none.")
]
LeaseFlag = Annotated[
    int | None,
    typer.Option(
        "--lease-ms", help="Treat a client as dead after this many ms without a heartbeat."
    ),
]
MarginFlag = Annotated[
    int | None,
    typer.Option("--margin-ms", help="Wait this many ms longer, for clocks that differ."),
]
TriggerFlag = Annotated[int | None, typer.Option("--trigger-ms", help="Recompute this often.")]
DrainDeadlineFlag = Annotated[
    str | None,
    typer.Option(
        "--drain-deadline-ms",
        help="Treat a client as mute if it has not stopped a queue by then; or never.",
    ),
]
PullMaxIdleFlag = Annotated[
    str | None,
    typer.Option(
        "--pull-max-idle-ms",
        help="Grant a queue again that its push client has not pulled for this long; or never.",
    ),
]
RestartGraceFlag = Annotated[
    int | None,
    typer.Option("--restart-grace-ms", help="Keep the queues of a lost client for it this long."),
]
SettleFlag = Annotated[
    int | None,
    typer.Option("--settle-ms", help="Gather joins and leaves for this long into one decision."),
]
SlotsFlag = Annotated[
    str | None,
    typer.Option(
        "--slots",
        help="Who shares a topic: subscribers or group.",
        autocompletion=complete_word("subscribers", "group"),
    ),
]
ModeFlag = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="cooperative, or eager: grant without waiting for the holder.",
        autocompletion=complete_word("cooperative", "eager"),
    ),
]
OnMuteFlag = Annotated[
    str | None,
    typer.Option(
        "--on-mute",
        help="wait, or force: take queues from a client that is mute.",
        autocompletion=complete_word("wait", "force"),
    ),
]
ReactFlag = Annotated[
    str | None,
    typer.Option(
        "--react",
        help="When to react to joins and leaves: on_change or on_tick.",
        autocompletion=complete_word("on_change", "on_tick"),
    ),
]
StartPolicyFlag = Annotated[
    str | None,
    typer.Option(
        "--start-policy",
        help="Where queues start: fairlead, or as in rocketmq.",
        autocompletion=complete_word("fairlead", "rocketmq"),
    ),
]
RetryTopicsFlag = Annotated[
    str | None,
    typer.Option(
        "--retry-topics",
        help="When to create its retry topic: on_failure or on_subscription.",
        autocompletion=complete_word("on_failure", "on_subscription"),
    ),
]
TakeOverFlag = Annotated[
    str | None,
    typer.Option(
        "--take-over",
        help="When it goes over from RocketMQ's own rebalance: all_attached or never.",
        autocompletion=complete_word("all_attached", "never"),
    ),
]
WeighByFlag = Annotated[
    str | None,
    typer.Option(
        "--weigh-by",
        help="What queues weigh: count, rate or lag.",
        autocompletion=complete_word("count", "rate", "lag"),
    ),
]
WeighOverFlag = Annotated[
    int | None, typer.Option("--weigh-over-ms", help="Average weights over this many ms.")
]
WeighChangeFlag = Annotated[
    int | None,
    typer.Option(
        "--weigh-change-percent", help="Use a new weight if it differs by more than this."
    ),
]
QuotaFlag = Annotated[
    list[str] | None,
    typer.Option("--quota", help="members=5000: its limits; docs/quotas.md. Repeatable."),
]
OnlyFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--only", help="Only these consume: an address, network, glob or client id. Repeatable."
    ),
]
TopicsFlag = Annotated[
    list[str] | None,
    typer.Option("--topics", help="With --only: for this topic, not for all. Repeatable."),
]
IfNobodyFlag = Annotated[
    str | None,
    typer.Option(
        "--if-nobody",
        help="With --only: who consumes without such a client: nobody or all.",
    ),
]
PinFlag = Annotated[
    list[str] | None,
    typer.Option("--pin", help="topic/broker/3=client: the client owns it. Repeatable."),
]
BanFlag = Annotated[
    list[str] | None,
    typer.Option("--ban", help="topic/broker/3=client: the client never owns it. Repeatable."),
]
WeightFlag = Annotated[
    list[str] | None,
    typer.Option("--weight", help="topic/broker/3=2.5: what the queue weighs. Repeatable."),
]
CapacityFlag = Annotated[
    list[str] | None,
    typer.Option("--capacity", help="client=2: its share of the work. Repeatable."),
]
DrainFlag = Annotated[
    list[str] | None,
    typer.Option("--drain", help="The client gives up all its queues. Repeatable."),
]

StrategyGone = Annotated[bool, typer.Option("--strategy", help="The strategy and its options.")]
PauseGone = Annotated[bool, typer.Option("--pause", help="The pause, as resume does.")]
TimingGone = Annotated[bool, typer.Option("--timing", help="All times.")]
SlotsGone = Annotated[bool, typer.Option("--slots", help="Who shares a topic.")]
ModeGone = Annotated[bool, typer.Option("--mode", help="How queues are handed over.")]
OnMuteGone = Annotated[bool, typer.Option("--on-mute", help="What to do with mute clients.")]
ReactGone = Annotated[bool, typer.Option("--react", help="When to react to changes.")]
StartPolicyGone = Annotated[bool, typer.Option("--start-policy", help="Where queues start.")]
RetryTopicsGone = Annotated[
    bool, typer.Option("--retry-topics", help="When to create its retry topic.")
]
TakeOverGone = Annotated[
    bool, typer.Option("--take-over", help="When it goes over from RocketMQ's own rebalance.")
]
WeighingGone = Annotated[bool, typer.Option("--weighing", help="What queues weigh.")]
QuotaGone = Annotated[bool, typer.Option("--quota", help="Its limits.")]
DesignatedGone = Annotated[bool, typer.Option("--designated", help="Who alone consumes.")]
QueueGone = "topic/broker/3. Repeatable."
PinGone = Annotated[list[str] | None, typer.Option("--pin", help=QueueGone)]
BanGone = Annotated[list[str] | None, typer.Option("--ban", help=QueueGone)]
WeightGone = Annotated[list[str] | None, typer.Option("--weight", help=QueueGone)]
CapacityGone = Annotated[
    list[str] | None, typer.Option("--capacity", help="A client id. Repeatable.")
]
DrainGone = Annotated[list[str] | None, typer.Option("--drain", help="A client id. Repeatable.")]
AllGone = Annotated[bool, typer.Option("--all", help="Every rule of the group's own.")]

BecauseFlag = Annotated[
    str | None, typer.Option("--because", help="Why, for the audit record: one line.")
]
ByFlag = Annotated[
    str | None, typer.Option("--by", help="Who, for the audit record. Default: user@host.")
]
DryRunFlag = Annotated[
    bool, typer.Option("--dry-run", help="Check and show the records; write nothing.")
]
NewGroupFlag = Annotated[bool, typer.Option("--new-group", help="Allow an unknown group.")]
AbsentFlag = Annotated[
    bool, typer.Option("--absent-ok", help="Allow clients that are not in the group now.")
]
ReleasedFlag = Annotated[
    bool,
    typer.Option("--released-ok", help="Allow rules that end a release to native consumers."),
]
LeaveUnreadFlag = Annotated[
    bool, typer.Option("--leave-unread", help="Allow a drain that leaves queues without a reader.")
]
WaitFlag = Annotated[
    float, typer.Option("--wait", min=0, help="Wait this many seconds for the engine's answer.")
]
