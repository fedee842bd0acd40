"""A command that changes rules of a group: flags in, rows and warnings out."""

import getpass
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairlead.cli.change.change_options import ChangeOptions, NewGroupOptions, PresenceOptions
from fairlead.cli.names import require_group
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import warn, write_objects
from fairlead.errors import in_commands

if TYPE_CHECKING:
    from fairlead.control.control_session import RuleOutcome
    from fairlead.control.rule_change import RuleChange
    from fairlead.control.rules_in_force import RulesInForce
    from fairlead.core.records import RuleSet
    from fairlead.observed.live_group import LiveGroup
    from fairlead.operating.rule_changes import Signature

__all__ = ["RuleCommand", "report_outcomes", "signature", "warn_of_idle"]

_NOTE_MAX = 255


def warn_of_idle(rules: "RulesInForce") -> None:
    """Warn of rules that the strategy in force does not use."""
    from fairlead.operating.rule_changes import idle_note

    for note in idle_note(rules):
        warn(note)


class RuleCommand:
    """One run of a command on one group."""

    def __init__(self, name: str, shared: OutputOptions) -> None:
        """Read the rules.

        Raises:
            SettingsError: a setting is unknown or makes no sense.
            UsageError: the name is no group name.
            EnvironmentMissingError: the control topic cannot be read.
        """
        from fairlead.operating.rule_changes import OperatedGroup

        settings = shared.settings()
        require_group(name, or_all=True)
        self.name = name
        self.output = shared.output
        self.settings = settings
        self.operated = OperatedGroup.read(name, settings)
        self.session = self.operated.session
        self.strategies = self.session.present.strategies

    def apply(
        self,
        wanted: "Sequence[RuleSet]",
        change: ChangeOptions,
        presence: NewGroupOptions | None = None,
        *,
        released_ok: bool = False,
        leave_unread: bool = False,
    ) -> None:
        """Check the rules, write them unless it is a dry run, and report the outcomes.

        Args:
            wanted: the rules.
            change: who changes them, why, and whether to write.
            presence: whether the group and the clients of rules may be unknown; None: the rules
                only remove, so they need not be known.
            released_ok: the rules may end a release.
            leave_unread: a drain may leave queues that nobody reads.
        """
        from fairlead.cli.render.rule import OUTCOME_COLUMNS, outcome_cells
        from fairlead.operating.rule_changes import Allowed

        allowed = Allowed(
            new_group=presence is not None and presence.new_group,
            absent_ok=not isinstance(presence, PresenceOptions) or presence.absent_ok,
            released_ok=released_ok,
            leave_unread=leave_unread,
        )
        done = self.operated.change(
            wanted, self.signed(change), allowed, self.wait_s(change), removing=presence is None
        )
        write_objects(done.to_json(), outcome_cells, OUTCOME_COLUMNS, self.output)
        for note in done.notes:
            warn(in_commands(note))
        if done.failure is not None:
            raise done.failure

    @staticmethod
    def signed(change: ChangeOptions) -> "Signature":
        """Return who changes rules, and why."""
        from fairlead.operating.rule_changes import Signature

        return Signature(change.by or signature(), change.because)

    @staticmethod
    def wait_s(change: ChangeOptions) -> float | None:
        """Return how long to wait for the engine; None: write nothing."""
        return None if change.dry_run else change.wait

    def check(
        self, wanted: "Sequence[RuleSet]", change: ChangeOptions
    ) -> "tuple[list[RuleChange], RulesInForce]":
        """Return the changes, signed as the options say, and the rules that are then in force.

        Raises:
            UsageError: no rule is named, or the engine would refuse one.
        """
        return self.operated.check(wanted, self.signed(change))

    def write(self, changes: "Sequence[RuleChange]", change: ChangeOptions) -> "list[RuleOutcome]":
        """Write the rules that change something, unless it is a dry run; return the outcomes.

        Raises:
            EnvironmentMissingError: the topics cannot be read or written.
        """
        return self.operated.write(changes, self.wait_s(change))

    def warn_about(
        self, wanted: "Sequence[RuleSet]", after: "RulesInForce", live: "LiveGroup | None"
    ) -> None:
        """Warn of rules without effect, and of rules that conf/ sets back; ``live``: the group."""
        for note in self.operated.notes(wanted, after, live):
            warn(note)


def signature() -> str:
    """Return the author of a record by default: user@host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container may have no name for the user's number.
        user = "unknown"
    return f"{user}@{socket.gethostname()}"[:_NOTE_MAX]


def report_outcomes(outcomes: "Sequence[RuleOutcome]", wait: float) -> None:
    """Explain the outcomes that need it, and end with their exit code.

    Raises:
        VerdictError: the engine refused a rule.
        EnvironmentMissingError: no engine answered in time.
    """
    from fairlead.operating.rule_answers import failure_of_rules, notes_of_rules

    for note in notes_of_rules(outcomes):
        warn(in_commands(note))
    failure = failure_of_rules(outcomes, wait)
    if failure is not None:
        raise failure
