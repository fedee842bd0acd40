"""Words for single rules of a group: pause and resume it, drain a client and end that."""

from collections.abc import Sequence
from typing import Any

from fairlead.cli import rule_flags as flags
from fairlead.cli.emptying import wait_until_empty
from fairlead.cli.group_work import WAIT_SECONDS, GroupWork, warn
from fairlead.cli.options import (
    BootstrapOption,
    ConfigOption,
    OutputOption,
    ProfileOption,
    TopicPrefixOption,
    settings_of,
)
from fairlead.cli.output import OutputFormat
from fairlead.core.records import ALL_GROUPS, RuleSet

__all__ = ["drain", "pause", "resume", "undrain"]


def pause(
    name: flags.GroupArgument,
    *,
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
    """Share nothing anew until resume: owners go on, and what nobody holds waits."""
    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    rules = [RuleSet(name, "pause", (), True)]  # noqa: FBT003 - the rule's value
    work.apply(rules, by, because, wait=None if dry_run else wait, output=output)


def resume(
    name: flags.GroupArgument,
    *,
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
    """End a pause: all that has changed meanwhile counts in one decision."""
    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    if name != ALL_GROUPS and ("pause", ()) in work.session.present.of_all:
        warn("every group is paused, and so is this one until: fairlead group resume '*'")
    rules = [RuleSet(name, "pause", (), None)]
    work.apply(rules, by, because, wait=None if dry_run else wait, output=output)


def drain(
    name: flags.GroupArgument,
    clients: flags.ClientsArgument,
    *,
    until_empty: flags.UntilEmptyFlag = None,
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
    """Let clients give everything away and stay members that own nothing."""
    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    rules = _drains(name, clients, lambda client: {"client_id": client})
    work.apply(rules, by, because, wait=None if dry_run else wait, output=output)
    if until_empty is not None and not dry_run:
        wait_until_empty(name, clients, until_empty, work.settings, work.strategies)


def undrain(
    name: flags.GroupArgument,
    clients: flags.ClientsArgument,
    *,
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
    """Let drained clients have their share again."""
    work = GroupWork(name, settings_of(bootstrap, topic_prefix, profile, config))
    rules = _drains(name, clients, lambda _client: None)
    work.apply(rules, by, because, wait=None if dry_run else wait, output=output)


def _drains(name: str, clients: Sequence[str], value: Any) -> list[RuleSet]:
    return [RuleSet(name, "drain", (client,), value(client)) for client in dict.fromkeys(clients)]
