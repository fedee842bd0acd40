"""``fairlead group``: the rules of a group at run time, through the log."""

from dataclasses import replace

import typer

from fairlead.cli import group_verbs
from fairlead.cli import rule_flags as flags
from fairlead.cli.group_check import check
from fairlead.cli.group_describe import describe
from fairlead.cli.group_list import list_groups
from fairlead.cli.group_options import (
    ChangeOptions,
    GroupOptions,
    NamedOptions,
    PresenceOptions,
    RuleOptions,
)
from fairlead.cli.group_work import GroupWork, warn, warn_of_idle
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import write_objects
from fairlead.cli.presence import require_known
from fairlead.cli.rule_words import (
    completed,
    given_rules,
    gone_rules,
    rule_words,
    wanted_rules,
)
from fairlead.cli.source_options import SourceOptions
from fairlead.errors import UsageError

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("pause")(group_verbs.pause)
app.command("resume")(group_verbs.resume)
app.command("drain")(group_verbs.drain)
app.command("undrain")(group_verbs.undrain)
app.command("check")(check)
app.command("describe")(describe)
app.command("list")(list_groups)


@app.callback()
def group() -> None:
    """List, describe and check groups; set, unset and show their rules; pause, drain a client."""


@app.command("set")
@takes_sets
def set_rules(
    name: flags.RulesArgument,
    *,
    rules: RuleOptions,
    named: NamedOptions,
    leave_unread: flags.LeaveUnreadFlag = False,
    released_ok: flags.ReleasedFlag = False,
    presence: PresenceOptions,
    change: ChangeOptions,
    shared: GroupOptions,
) -> None:
    """Set rules of a group, and wait for the engine's answer.

    Everything is checked before anything is written, and names that nobody has are refused.
    docs/groups.md has each rule.
    """
    wanted = wanted_rules(name, given_rules(**vars(rules), **vars(named)))
    work = GroupWork(name, shared)
    present = work.session.present
    wanted = completed(wanted, present.values_of(name), present.rules.strategy)
    work.apply(wanted, change, presence, released_ok=released_ok, leave_unread=leave_unread)


@app.command("unset")
@takes_sets
def unset_rules(
    name: flags.RulesArgument,
    *,
    strategy: flags.StrategyGone = False,
    pause: flags.PauseGone = False,
    timing: flags.TimingGone = False,
    slots: flags.SlotsGone = False,
    mode: flags.ModeGone = False,
    on_mute: flags.OnMuteGone = False,
    react: flags.ReactGone = False,
    start_policy: flags.StartPolicyGone = False,
    retry_topics: flags.RetryTopicsGone = False,
    weighing: flags.WeighingGone = False,
    quota: flags.QuotaGone = False,
    designated: flags.DesignatedGone = False,
    pin: flags.PinGone = None,
    ban: flags.BanGone = None,
    weight: flags.WeightGone = None,
    capacity: flags.CapacityGone = None,
    drain: flags.DrainGone = None,
    everything: flags.AllGone = False,
    released_ok: flags.ReleasedFlag = False,
    change: ChangeOptions,
    shared: GroupOptions,
) -> None:
    """Remove rules of a group: those of all groups, or what is built in, hold again."""
    whole = {
        "pause": pause,
        "strategy": strategy,
        "timing": timing,
        "slots": slots,
        "mode": mode,
        "on_mute": on_mute,
        "react": react,
        "start_policy": start_policy,
        "retry_topics": retry_topics,
        "weighing": weighing,
        "quota": quota,
        "designated": designated,
    }
    singles = {"pin": pin, "ban": ban, "weight": weight, "capacity": capacity, "drain": drain}
    gone = gone_rules(name, [rule for rule, meant in whole.items() if meant], singles)
    work = GroupWork(name, shared)
    if everything:
        gone = [replace(each.rule, value=None) for each in work.session.present.of(name).values()]
    work.apply(gone, change, released_ok=released_ok)


@app.command("show")
@takes_sets
def show_rules(name: flags.RulesArgument, *, shared: SourceOptions) -> None:
    """Show the rules in force for a group: what each says, where it is from, who set it and why."""
    from fairlead.cli.rule_rows import RULE_COLUMNS, rule_cells, time_words
    from fairlead.control.rule_json import rules_json
    from fairlead.control.rules_in_force import rules_in_force, shard_of_rules
    from fairlead.wire.texts import GROUP_OR_ALL
    from strategies.own_strategies import all_strategies

    if not GROUP_OR_ALL.allows(name):
        raise UsageError(f"GROUP: {name!r} is none.", remedy=f"Give {GROUP_OR_ALL.words}.")
    settings = shared.settings()
    source = shared.open(settings)
    shards = source.partitions.shards
    rows = source.read("control", [shard_of_rules(name, shards)])
    strategies = all_strategies(settings.engine.strategies)
    present = rules_in_force(rows, name, shards, strategies)
    if not present.of(name):
        require_known(name, source, strategies, settings.engine.tick_ms)
    rules = list(rules_json(present))
    write_objects(rules, rule_cells, RULE_COLUMNS, shared.output, prose=("says", "because"))
    for refused in present.refused.values():
        rule = refused.written.rule
        warn(
            f"{rule_words(rule)} by {rule.by} at {time_words(refused.written.written_ms)} "
            f"is refused ({refused.error.detail}); what was in force before it stays"
        )
    warn_of_idle(present)
