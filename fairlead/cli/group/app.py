"""``fairlead group``: groups as they are now, and their rules."""

from dataclasses import replace

import typer

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.change_options import (
    ChangeOptions,
    GoneRules,
    GoneSingleRules,
    NamedOptions,
    PresenceOptions,
    RuleOptions,
)
from fairlead.cli.change.given_rules import given_rules, gone_rules, wanted_rules
from fairlead.cli.change.rule_command import RuleCommand, warn_of_idle
from fairlead.cli.group import verbs
from fairlead.cli.group.check import check
from fairlead.cli.group.describe import describe
from fairlead.cli.group.list_groups import list_groups
from fairlead.cli.names import require_group
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import warn, write_objects
from fairlead.cli.sources.native_groups import naming_native
from fairlead.cli.sources.source_options import SourceOptions

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("list")(list_groups)
app.command("describe")(describe)
app.command("check")(check)


@app.callback()
def group() -> None:
    """List, describe and check groups; set, unset and show their rules; pause and drain."""


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
    shared: OutputOptions,
) -> None:
    """Set rules of a group, and wait for the engine's answer.

    The command checks everything before it writes anything, and refuses unknown names.
    docs/groups.md has each rule.
    """
    from fairlead.control.wanted_rules import completed

    wanted = wanted_rules(name, given_rules(**vars(rules), **vars(named)))
    command = RuleCommand(name, shared)
    present = command.session.present
    wanted = completed(wanted, present.values_of(name), present.rules.strategy)
    command.apply(wanted, change, presence, released_ok=released_ok, leave_unread=leave_unread)


@app.command("unset")
@takes_sets
def unset_rules(
    name: flags.RulesArgument,
    *,
    rules: GoneRules,
    singles: GoneSingleRules,
    everything: flags.AllGone = False,
    released_ok: flags.ReleasedFlag = False,
    change: ChangeOptions,
    shared: OutputOptions,
) -> None:
    """Remove rules of a group: the rules of all groups, or the built-in ones, apply again."""
    whole = [rule for rule, is_meant in vars(rules).items() if is_meant]
    gone = gone_rules(name, whole, vars(singles))
    command = RuleCommand(name, shared)
    if everything:
        gone = [
            replace(each.rule, value=None) for each in command.session.present.of(name).values()
        ]
    command.apply(gone, change, released_ok=released_ok)


@app.command("show")
@takes_sets
def show_rules(name: flags.RulesArgument, *, shared: SourceOptions) -> None:
    """Show the rules in force for a group: value, origin, author and reason of each."""
    from fairlead.cli.render.rule import RULE_COLUMNS, rule_cells
    from fairlead.control.rule_json import rules_json
    from fairlead.control.rules_in_force import rules_in_force, shard_of_rules
    from fairlead.operating.presence import require_known
    from fairlead.operating.rule_changes import refused_notes
    from strategies.own_strategies import all_strategies

    require_group(name, or_all=True)
    settings = shared.settings()
    source = shared.open(settings)
    shards = source.partitions.shards
    rows = source.read("control", [shard_of_rules(name, shards)])
    strategies = all_strategies(settings.engine.strategies)
    present = rules_in_force(rows, name, shards, strategies)
    if not present.of(name):
        with naming_native(settings, name):
            require_known(name, source, strategies, settings.engine.tick_ms)
    rules = list(rules_json(present))
    write_objects(rules, rule_cells, RULE_COLUMNS, shared.output, prose=("says", "because"))
    for note in refused_notes(present):
        warn(note)
    warn_of_idle(present)


app.command("pause")(verbs.pause)
app.command("resume")(verbs.resume)
app.command("drain")(verbs.drain)
app.command("undrain")(verbs.undrain)
