"""``fairlead group``: the rules of a group at run time, through the log."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import typer

from fairlead.cli import group_verbs
from fairlead.cli import rule_flags as flags
from fairlead.cli.group_work import WAIT_SECONDS, GroupWork, warn
from fairlead.cli.options import (
    BootstrapOption,
    ConfigOption,
    OutputOption,
    ProfileOption,
    TopicPrefixOption,
    settings_of,
)
from fairlead.cli.output import OutputFormat, write_rows
from fairlead.cli.rule_words import (
    GivenRules,
    completed,
    deadline_of,
    gone_rules,
    rule_words,
    wanted_rules,
)
from fairlead.core.rules import TIMES

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("pause")(group_verbs.pause)
app.command("resume")(group_verbs.resume)
app.command("drain")(group_verbs.drain)
app.command("undrain")(group_verbs.undrain)


@app.callback()
def group() -> None:
    """Set, unset and show the rules of a group while it runs; pause it, drain a client."""


@app.command("set")
def set_rules(
    name: flags.GroupArgument,
    *,
    strategy: flags.StrategyFlag = None,
    options: flags.OptionsFlag = None,
    lease_ms: flags.LeaseFlag = None,
    margin_ms: flags.MarginFlag = None,
    trigger_ms: flags.TriggerFlag = None,
    drain_deadline_ms: flags.DrainDeadlineFlag = None,
    restart_grace_ms: flags.RestartGraceFlag = None,
    settle_ms: flags.SettleFlag = None,
    slots: flags.SlotsFlag = None,
    mode: flags.ModeFlag = None,
    on_mute: flags.OnMuteFlag = None,
    weigh_by: flags.WeighByFlag = None,
    weigh_over_ms: flags.WeighOverFlag = None,
    weigh_change_percent: flags.WeighChangeFlag = None,
    only: flags.OnlyFlag = None,
    topics: flags.TopicsFlag = None,
    if_nobody: flags.IfNobodyFlag = None,
    pin: flags.PinFlag = None,
    ban: flags.BanFlag = None,
    weight: flags.WeightFlag = None,
    capacity: flags.CapacityFlag = None,
    drain: flags.DrainFlag = None,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    dry_run: flags.DryRunFlag = False,
    wait: flags.WaitFlag = WAIT_SECONDS,
    bootstrap: BootstrapOption = None,
    topic_prefix: TopicPrefixOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Set rules of a group, and wait for the engine's answer.

    Everything is checked before anything is written. docs/groups.md has each rule.
    """
    deadline = deadline_of(drain_deadline_ms)
    timing = (lease_ms, margin_ms, trigger_ms, deadline, restart_grace_ms, settle_ms)
    weighing = (weigh_by, weigh_over_ms, weigh_change_percent)
    given = GivenRules(
        strategy,
        options,
        _given(("slots", "mode", "on_mute"), (slots, mode, on_mute)),
        _given(TIMES, timing),
        _given(("by", "over_ms", "change_percent"), weighing),
        _given(("only", "topics", "if_nobody"), (only or None, topics or None, if_nobody)),
        _given(("pin", "ban", "weight", "capacity", "drain"), (pin, ban, weight, capacity, drain)),
    )
    wanted = wanted_rules(name, given)
    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    present = work.session.present
    wanted = completed(wanted, present.values_of(name), present.rules.strategy)
    work.apply(wanted, by, because, wait=None if dry_run else wait, output=output)


@app.command("unset")
def unset_rules(
    name: flags.GroupArgument,
    *,
    strategy: flags.StrategyGone = False,
    pause: flags.PauseGone = False,
    timing: flags.TimingGone = False,
    slots: flags.SlotsGone = False,
    mode: flags.ModeGone = False,
    on_mute: flags.OnMuteGone = False,
    weighing: flags.WeighingGone = False,
    designated: flags.DesignatedGone = False,
    pin: flags.PinGone = None,
    ban: flags.BanGone = None,
    weight: flags.WeightGone = None,
    capacity: flags.CapacityGone = None,
    drain: flags.DrainGone = None,
    everything: flags.AllGone = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    dry_run: flags.DryRunFlag = False,
    wait: flags.WaitFlag = WAIT_SECONDS,
    bootstrap: BootstrapOption = None,
    topic_prefix: TopicPrefixOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Remove rules of a group: those of all groups, or what is built in, hold again."""
    whole = {
        "pause": pause,
        "strategy": strategy,
        "timing": timing,
        "slots": slots,
        "mode": mode,
        "on_mute": on_mute,
        "weighing": weighing,
        "designated": designated,
    }
    singles = _given(
        ("pin", "ban", "weight", "capacity", "drain"), (pin, ban, weight, capacity, drain)
    )
    gone = gone_rules(name, [rule for rule, meant in whole.items() if meant], singles)
    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    if everything:
        gone = [replace(each.rule, value=None) for each in work.session.present.of(name).values()]
    work.apply(gone, by, because, wait=None if dry_run else wait, output=output)


@app.command("show")
def show_rules(
    name: flags.GroupArgument,
    *,
    bootstrap: BootstrapOption = None,
    topic_prefix: TopicPrefixOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show the rules in force for a group: what each says, where it is from, who set it and why."""
    from fairlead.cli.rule_rows import RULE_COLUMNS, rule_rows, time_words

    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    present = work.session.present
    write_rows(rule_rows(present, work.session.topic), RULE_COLUMNS, output)
    for refused in present.refused.values():
        rule = refused.written.rule
        warn(
            f"{rule_words(rule)} by {rule.by} at {time_words(refused.written.written_ms)} "
            f"is refused ({refused.error.detail}); what was in force before it stays"
        )
    work.warn_of_idle(present)


def _given(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
