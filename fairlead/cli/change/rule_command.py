"""A command that changes rules of a group: check, write, wait for the engine, report."""

import getpass
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairlead.cli.change.change_options import ChangeOptions, NewGroupOptions, PresenceOptions
from fairlead.cli.change.given_rules import refusal_of
from fairlead.cli.change.released_group import refuse_to_end_release
from fairlead.cli.change.unread_queues import require_readers
from fairlead.cli.errors import sentence
from fairlead.cli.names import require_group
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import warn, write_objects
from fairlead.cli.render.rule import rule_words
from fairlead.cli.sources.presence import require_known, require_present
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from fairlead.control.control_session import RuleOutcome
    from fairlead.control.queue_resets import ResetOutcome
    from fairlead.control.rule_change import RuleChange
    from fairlead.control.rules_in_force import RulesInForce
    from fairlead.core.records import RuleSet
    from fairlead.core.rules.group_rules import GroupRules
    from fairlead.observed.live_group import LiveGroup

__all__ = ["RuleCommand", "report_outcomes", "signature", "warn_of_idle", "why_silent"]

_NOTE_MAX = 255


def warn_of_idle(rules: "RulesInForce") -> None:
    """Warn of rules that the strategy in force does not use."""
    if rules.idle:
        warn(
            f"{', '.join(rules.idle)}: {rules.rules.strategy} does not use this rule; it has no "
            "effect until the group has a strategy that does (STICKY, or your own)"
        )


class RuleCommand:
    """One run of a command on one group."""

    def __init__(self, name: str, shared: OutputOptions) -> None:
        """Read the rules.

        Raises:
            SettingsError: a setting is unknown or makes no sense.
            UsageError: the name is no group name.
            EnvironmentMissingError: the control topic cannot be read.
        """
        from fairlead.control.control_session import ControlSession
        from strategies.own_strategies import all_strategies

        settings = shared.settings()
        require_group(name, or_all=True)
        self.name = name
        self.output = shared.output
        self.settings = settings
        self.strategies = all_strategies(settings.engine.strategies)
        self.session = ControlSession(settings.kafka, name, self.strategies)

    def apply(
        self,
        wanted: Sequence["RuleSet"],
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

        changes, after = self.check(wanted, change)
        rules = [each.rule for each in changes if each.changes]
        if not released_ok:
            refuse_to_end_release(self.name, self.session.present, rules)
        live = None if presence is None else self._require_present(rules, presence)
        if presence is None and not rules:
            self._require_known(wanted)
        if not leave_unread and live is not None:
            require_readers(live.planned, rules)
        outcomes = self.write(changes, change)
        rows = [each.to_json(self.session.topic) for each in outcomes]
        write_objects(rows, outcome_cells, OUTCOME_COLUMNS, self.output)
        self.warn_about(wanted, after, live)
        report_outcomes(outcomes, change.wait)

    def _require_known(self, wanted: Sequence["RuleSet"]) -> None:
        """Refuse an unknown group; of a known one, warn that there is no such rule to remove."""
        from fairlead.kafka.kafka_source import KafkaSource

        source = KafkaSource(self.settings.kafka)
        require_known(self.name, source, self.strategies, self.settings.engine.tick_ms)
        warn(
            f"{', '.join(map(rule_words, wanted))}: {self.name} has no such rule to remove; "
            f"`fairlead group show {self.name}` shows its rules"
        )

    def _require_present(
        self, rules: "Sequence[RuleSet]", presence: NewGroupOptions
    ) -> "LiveGroup | None":
        return require_present(
            self.name,
            rules,
            self.settings,
            self.strategies,
            new_group=presence.new_group,
            absent_ok=not isinstance(presence, PresenceOptions) or presence.absent_ok,
        )

    def check(
        self, wanted: Sequence["RuleSet"], change: ChangeOptions
    ) -> "tuple[list[RuleChange], RulesInForce]":
        """Return the changes, signed as the options say, and the rules that are then in force.

        Raises:
            UsageError: no rule is named, or the engine would refuse one.
        """
        from fairlead.control.rule_change import BadRuleError, changes_of

        if not wanted:
            raise UsageError("nothing to do: no rule is named.", remedy="See --help for the flags.")
        signed = [
            replace(rule, by=change.by or signature(), because=change.because) for rule in wanted
        ]
        try:
            changes, after = changes_of(self.session.present, signed)
        except BadRuleError as error:
            raise refusal_of(error) from error
        if any(rule.rule == "timing" for rule in wanted):
            self._check_times(after.rules)
        return changes, after

    def write(self, changes: "Sequence[RuleChange]", change: ChangeOptions) -> "list[RuleOutcome]":
        """Write the rules that change something, unless it is a dry run; return the outcomes.

        Raises:
            EnvironmentMissingError: the topics cannot be read or written.
        """
        from fairlead.control.control_session import RuleOutcome

        if not change.dry_run:
            return self.session.write(changes, change.wait)
        return [
            RuleOutcome(each.rule, "not_written" if each.changes else "unchanged")
            for each in changes
        ]

    def warn_about(
        self, wanted: Sequence["RuleSet"], after: "RulesInForce", live: "LiveGroup | None"
    ) -> None:
        """Warn of rules without effect, and of rules that conf/ sets back; ``live``: the group."""
        from fairlead.planning.idle_pins import idle_pins

        warn_of_idle(after)
        for text in () if live is None else idle_pins(wanted, live.planned.members):
            warn(text)
        self._warn_of_unknown_queues(wanted)
        self._warn_of_conf(wanted)

    def _warn_of_unknown_queues(self, wanted: Sequence["RuleSet"]) -> None:
        """Warn of queues in no route: the rule waits for them."""
        from fairlead.control.unknown_queues import unknown_queues

        for queue, brokers in unknown_queues(self.settings.kafka, wanted):
            known = ", ".join(f"{name} (queues 0 to {n - 1})" for name, n in brokers.items())
            warn(
                f"{queue_words(queue)}: no route has this queue now; "
                + (f"{queue.topic} has {known}" if known else f"no route of {queue.topic} is known")
            )

    def _check_times(self, rules: "GroupRules") -> None:
        """Refuse times that contradict each other, as conf/ does."""
        from fairlead.core.rules.group_rules import TIMES
        from fairlead.settings.contradictions import rule_contradictions

        times = {name: getattr(rules, name) for name in TIMES}
        merged = self.settings.group_defaults.model_copy(update=times)
        for key, wrong, remedy in rule_contradictions(f"group.{self.name}", merged, self.settings):
            raise UsageError(f"{key}: {wrong}.", remedy=sentence(remedy))

    def _warn_of_conf(self, wanted: Sequence["RuleSet"]) -> None:
        from streaming.rules import wanted_rules

        named: Mapping[tuple[str, str], Any] = wanted_rules(self.settings, self.strategies)
        kept = sorted({rule.rule for rule in wanted if (self.name, rule.rule) in named})
        if kept:
            table = "group_defaults" if self.name == "*" else f"group.{self.name}"
            warn(
                f"conf/ has {', '.join(kept)} in [{table}]: the next start of the engine restores "
                "that; change it there as well"
            )


def signature() -> str:
    """Return the author of a record by default: user@host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container may have no name for the user's number.
        user = "unknown"
    return f"{user}@{socket.gethostname()}"[:_NOTE_MAX]


def report_outcomes(outcomes: Sequence["RuleOutcome"], wait: float) -> None:
    """Explain the outcomes that need it, and end with their exit code.

    Raises:
        VerdictError: the engine refused a rule.
        EnvironmentMissingError: no engine answered in time.
    """
    decisions = {
        (one.group, one.epoch): one for each in outcomes for one in each.decisions
    }.values()
    for alarm in sorted({alarm for one in decisions for alarm in one.alarms}):
        warn(f"alarm {alarm}; docs/protocol.md, section 3.14, says what it means")
    for one in decisions:
        for topic, failure in one.failures.items():
            warn(f"{topic} cannot be allocated and keeps its owners: {failure.message}")
    for each in outcomes:
        if each.refusal is not None:
            raise VerdictError(
                f"{rule_words(each.rule)}: the engine refuses it ({each.refusal.detail}); "
                "the rule before it stays in force.",
                remedy=f"{each.refusal.remedy}.",
            )
    silent = [each for each in outcomes if each.answer == "unanswered"]
    if silent:
        raise EnvironmentMissingError(
            f"{', '.join(rule_words(each.rule) for each in silent)}: no answer within {wait:g} s; "
            "the rule stands in the log all the same.",
            remedy=why_silent(silent),
        )


def why_silent(silent: Sequence["RuleOutcome | ResetOutcome"]) -> str:
    """Return why the engine may not have answered."""
    if all(each.passed for each in silent):
        return "The engine has read it: the group is in quarantine, or nothing changed."
    if all(each.ticking for each in silent):
        return "An engine runs: look at the group's decisions, or wait longer (--wait)."
    return "No engine runs: start one (fairlead run); it reads this from the log."
