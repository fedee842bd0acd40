"""What every command on the rules of a group does: check, write, wait for the engine, and tell."""

import getpass
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairlead.cli.group_options import (
    ChangeOptions,
    GroupOptions,
    NewGroupOptions,
    PresenceOptions,
)
from fairlead.cli.output import write_line, write_rows
from fairlead.cli.presence import require_known, require_present
from fairlead.cli.released_group import refuse_to_end_release
from fairlead.cli.rule_words import refusal_of, rule_words, sentence
from fairlead.cli.unread_queues import require_readers
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError

if TYPE_CHECKING:
    from fairlead.control.control_session import RuleOutcome
    from fairlead.control.queue_resets import ResetOutcome
    from fairlead.control.rule_change import RuleChange
    from fairlead.control.rules_in_force import RulesInForce
    from fairlead.core.records import RuleSet
    from fairlead.core.rules import GroupRules
    from fairlead.observed.live_group import LiveGroup

__all__ = ["GroupWork", "signature", "tell_outcomes", "warn", "why_silent"]

_NOTE_MAX = 255


def warn(text: str) -> None:
    """Say what else there is to know; it changes no exit code."""
    write_line(f"warning: {text}", err=True)


def warn_of_idle(found: "RulesInForce") -> None:
    """Say which rules the strategy in force does not take."""
    if found.idle:
        warn(
            f"{', '.join(found.idle)}: {found.rules.strategy} does not take this, so it does "
            "nothing until the group has a strategy that does (STICKY, or one of your own)"
        )


class GroupWork:
    """One run of a command on one group; its rules were read when it was made."""

    def __init__(self, name: str, shared: GroupOptions) -> None:
        """Read the rules.

        Raises:
            SettingsError: a setting is unknown or makes no sense.
            UsageError: the name is none of a group.
            EnvironmentMissingError: the control topic cannot be read.
        """
        from fairlead.control.control_session import ControlSession
        from fairlead.wire.texts import GROUP_OR_ALL
        from strategies.own_strategies import all_strategies

        settings = shared.settings()
        if not GROUP_OR_ALL.allows(name):
            raise UsageError(f"GROUP: {name!r} is none.", remedy=f"Give {GROUP_OR_ALL.words}.")
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
        """Check the rules, write them unless it is a dry run, and tell what came of them.

        ``presence``: whether the group, and clients that rules name, may be unknown; None: whoever
        is unknown is not looked for, since the rules only go. ``released_ok``: a release may end.
        ``leave_unread``: a drain may leave queues that nobody reads.
        """
        from fairlead.cli.rule_rows import OUTCOME_COLUMNS, outcome_rows

        changes, after = self.checked(wanted, change)
        rules = [each.rule for each in changes if each.changes]
        if not released_ok:
            refuse_to_end_release(self.name, self.session.present, rules)
        live = None if presence is None else self._require_present(rules, presence)
        if presence is None and not rules:
            self._require_known(wanted)
        if not leave_unread and live is not None:
            require_readers(live.planned, rules)
        outcomes = self.written(changes, change)
        write_rows(outcome_rows(outcomes, self.session.topic), OUTCOME_COLUMNS, self.output)
        self.warn_of(wanted, after, live)
        tell_outcomes(outcomes, change.wait)

    def _require_known(self, wanted: Sequence["RuleSet"]) -> None:
        """Refuse a group that nobody knows where nothing goes; say that, where it is known."""
        from fairlead.kafka.kafka_source import KafkaSource

        source = KafkaSource(self.settings.kafka)
        require_known(self.name, source, self.strategies, self.settings.engine.tick_ms)
        warn(
            f"{', '.join(map(rule_words, wanted))}: no such rule of {self.name} is there to go; "
            f"`fairlead group show {self.name}` has those that are"
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

    def checked(
        self, wanted: Sequence["RuleSet"], change: ChangeOptions
    ) -> "tuple[list[RuleChange], RulesInForce]":
        """Return what the rules change, signed as the options say, and what is then in force.

        Raises:
            UsageError: none is named, or the engine would refuse one.
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

    def written(
        self, changes: "Sequence[RuleChange]", change: ChangeOptions
    ) -> "list[RuleOutcome]":
        """Write what changes something, unless it is a dry run; return what came of each.

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

    def warn_of(
        self, wanted: Sequence["RuleSet"], after: "RulesInForce", live: "LiveGroup | None"
    ) -> None:
        """Say which rules do nothing now, and which conf/ sets back; ``live``: who is there."""
        from fairlead.planning.idle_pins import idle_pins

        warn_of_idle(after)
        for text in () if live is None else idle_pins(wanted, live.planned.members):
            warn(text)
        self._warn_of_strange(wanted)
        self._warn_of_conf(wanted)

    def _warn_of_strange(self, wanted: Sequence["RuleSet"]) -> None:
        """Say which queues are in no route: the rule waits for them."""
        from fairlead.control.unknown_queues import unknown_queues

        for queue, brokers in unknown_queues(self.settings.kafka, wanted):
            known = ", ".join(f"{name} (queues 0 to {n - 1})" for name, n in brokers.items())
            warn(
                f"{'/'.join(map(str, queue))}: no route has this queue now; "
                + (f"{queue.topic} has {known}" if known else f"no route of {queue.topic} is known")
            )

    def _check_times(self, rules: "GroupRules") -> None:
        """Refuse times that do not go together, as conf/ does."""
        from fairlead.core.rules import TIMES
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
                f"conf/ has {', '.join(kept)} in [{table}]: the next start of the engine sets it "
                "back; change it there as well"
            )


def signature() -> str:
    """Return who writes a record if nobody else is named: user@host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # No such user in a container: the number is all there is.
        user = "unknown"
    return f"{user}@{socket.gethostname()}"[:_NOTE_MAX]


def tell_outcomes(outcomes: Sequence["RuleOutcome"], wait: float) -> None:
    """Say what the rows mean where that is not plain, and end with the exit code.

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
        for topic, why in one.failures.items():
            warn(f"{topic} cannot be allocated and keeps what it has: {why}")
    for each in outcomes:
        if each.refusal is not None:
            raise VerdictError(
                f"{rule_words(each.rule)}: the engine refuses it ({each.refusal.detail}); "
                "what was in force stays.",
                remedy=f"{each.refusal.remedy}.",
            )
    silent = [each for each in outcomes if each.answer == "unanswered"]
    if silent:
        raise EnvironmentMissingError(
            f"{', '.join(rule_words(each.rule) for each in silent)}: no answer within {wait:g} s; "
            "it stands in the log all the same.",
            remedy=why_silent(silent),
        )


def why_silent(silent: Sequence["RuleOutcome | ResetOutcome"]) -> str:
    """Return what may be wrong where no engine has answered what stands in the log."""
    if all(each.passed for each in silent):
        return "The engine has read it: the group is in quarantine, or nothing followed."
    if all(each.ticking for each in silent):
        return "An engine runs: look at the group's decisions, or wait longer (--wait)."
    return "No engine runs: start one (fairlead run); it takes this up from the log."
