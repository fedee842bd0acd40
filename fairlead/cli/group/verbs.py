"""Verbs for single rules of a group: pause and resume, drain and undrain."""

from collections.abc import Sequence
from typing import Any

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.change_options import ChangeOptions, NewGroupOptions, PresenceOptions
from fairlead.cli.change.rule_command import RuleCommand
from fairlead.cli.group.emptying import wait_until_empty
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import warn
from fairlead.core.records import RuleSet
from fairlead.errors import in_commands

__all__ = ["drain", "pause", "resume", "undrain"]


@takes_sets
def pause(
    name: flags.RulesArgument,
    *,
    presence: NewGroupOptions,
    change: ChangeOptions,
    shared: OutputOptions,
) -> None:
    """Stop rebalancing until resume: owners continue, and unowned queues wait."""
    rules = [RuleSet(name, "pause", (), True)]  # noqa: FBT003 - the rule's value
    RuleCommand(name, shared).apply(rules, change, presence)


@takes_sets
def resume(name: flags.RulesArgument, *, change: ChangeOptions, shared: OutputOptions) -> None:
    """End a pause: one decision takes account of all changes meanwhile."""
    from fairlead.operating.rule_changes import pause_note

    command = RuleCommand(name, shared)
    for note in pause_note(name, command.session.present):
        warn(in_commands(note))
    command.apply([RuleSet(name, "pause", (), None)], change)


@takes_sets
def drain(
    name: flags.RulesArgument,
    clients: flags.ClientsArgument,
    *,
    until_empty: flags.UntilEmptyFlag = None,
    leave_unread: flags.LeaveUnreadFlag = False,
    presence: PresenceOptions,
    change: ChangeOptions,
    shared: OutputOptions,
) -> None:
    """Let clients give up all their queues and stay members."""
    command = RuleCommand(name, shared)
    drains = _drains(name, clients, lambda client: {"client_id": client})
    command.apply(drains, change, presence, leave_unread=leave_unread)
    if until_empty is not None and not change.dry_run:
        wait_until_empty(name, clients, until_empty, command.settings, command.strategies)


@takes_sets
def undrain(
    name: flags.RulesArgument,
    clients: flags.ClientsArgument,
    *,
    change: ChangeOptions,
    shared: OutputOptions,
) -> None:
    """Let drained clients own queues again."""
    RuleCommand(name, shared).apply(_drains(name, clients, lambda _client: None), change)


def _drains(name: str, clients: Sequence[str], value: Any) -> list[RuleSet]:
    return [RuleSet(name, "drain", (client,), value(client)) for client in dict.fromkeys(clients)]
