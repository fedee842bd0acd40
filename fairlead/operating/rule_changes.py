"""A change of a group's rules: checked, written, answered by the engine.

Commands and HTTP ask for changes here. So both refuse the same, and write the same records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fairlead.control.control_session import ControlSession, RuleOutcome
from fairlead.control.released_group import refuse_to_end_release
from fairlead.control.rule_change import BadRuleError, RuleChange, changes_of
from fairlead.control.rule_values import rule_words
from fairlead.control.rules_in_force import RulesInForce
from fairlead.control.unknown_queues import unknown_queues
from fairlead.core.records import ALL_GROUPS, RuleSet
from fairlead.core.rules.group_rules import TIMES, GroupRules
from fairlead.errors import FairleadError, UsageError, Way, Words, sentence
from fairlead.history.formatting import queue_words, time_words
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.observed.live_group import LiveGroup
from fairlead.operating.presence import require_known, require_present
from fairlead.operating.rule_answers import failure_of_rules, notes_of_rules
from fairlead.planning.idle_pins import idle_pins
from fairlead.planning.unread_queues import require_readers
from fairlead.settings import Settings
from fairlead.settings.contradictions import rule_contradictions
from strategies.own_strategies import all_strategies
from streaming.rules import wanted_rules

__all__ = [
    "Allowed",
    "DoneRules",
    "OperatedGroup",
    "RuleRefusedError",
    "Signature",
    "idle_note",
    "pause_note",
    "refusal_of",
    "refused_notes",
]


class Signature(NamedTuple):
    """Who changes something, and why, for the audit record."""

    by: str
    because: str | None = None


class Allowed(NamedTuple):
    """What a change may do although it mostly is a mistake.

    ``new_group``: be of an unknown group. ``absent_ok``: name clients that are not there.
    ``released_ok``: end a release. ``leave_unread``: leave queues without a reader.
    """

    new_group: bool = False
    absent_ok: bool = False
    released_ok: bool = False
    leave_unread: bool = False


class DoneRules(NamedTuple):
    """What came of a change.

    ``notes``: what the operator must know beside. ``failure``: the engine refused a rule, or no
    engine answered in time; None: neither.
    """

    outcomes: tuple[RuleOutcome, ...]
    notes: tuple[Words, ...]
    failure: FairleadError | None
    topic: str

    def to_json(self) -> list[dict[str, Any]]:
        """Return JSON values, one for each rule."""
        return [each.to_json(self.topic) for each in self.outcomes]


class RuleRefusedError(UsageError):
    """The engine would refuse a rule. ``rule``: that rule; ``path``: what is wrong in its value."""

    def __init__(self, error: BadRuleError) -> None:
        place = f"{rule_words(error.rule)}: " + (f"{error.field}: " if error.field else "")
        remedy = sentence(error.remedy)
        super().__init__(f"{place}{error.detail}.", remedy=remedy, kind="bad_rule")
        self.rule = error.rule
        self.path = error.field


def refusal_of(error: BadRuleError) -> RuleRefusedError:
    """Return the error of a rule that the engine would refuse."""
    return RuleRefusedError(error)


def idle_note(rules: RulesInForce) -> Iterator[str]:
    """Yield that the strategy in force does not use some rules."""
    if rules.idle:
        yield (
            f"{', '.join(rules.idle)}: {rules.rules.strategy} does not use this rule; it has no "
            "effect until the group has a strategy that does (STICKY, or your own)"
        )


def refused_notes(present: RulesInForce) -> Iterator[str]:
    """Yield which records the engine rejects, so that the rules before them stay in force."""
    for refused in present.refused.values():
        rule = refused.written.rule
        yield (
            f"{rule_words(rule)} by {rule.by} at {time_words(refused.written.written_ms)} "
            f"is refused ({refused.error.detail}); the rule before it stays in force"
        )


def pause_note(group: str, present: RulesInForce) -> Iterator[Words]:
    """Yield that the end of a group's own pause does not let it go on."""
    if group != ALL_GROUPS and ("pause", ()) in present.of_all:
        command, request = "fairlead group resume '*'", "POST /v1/groups/*/resume"
        yield "all groups are paused, and this one stays so until: ", Way(command, request)


@dataclass(frozen=True, slots=True)
class OperatedGroup:
    """A group whose rules an operator changes, or ``*``: all groups.

    Attributes:
        name: its name.
        settings: have the address of the topics, and what conf/ sets.
        session: its rules, and a way to write others.
    """

    name: str
    settings: Settings
    session: ControlSession

    @classmethod
    def read(cls, name: str, settings: Settings) -> "OperatedGroup":
        """Read the rules.

        Raises:
            EnvironmentMissingError: the control topic cannot be read.
        """
        strategies = all_strategies(settings.engine.strategies)
        return cls(name, settings, ControlSession(settings.kafka, name, strategies))

    def change(
        self,
        wanted: Sequence[RuleSet],
        signed: Signature,
        allowed: Allowed,
        wait_s: float | None,
        *,
        removing: bool = False,
    ) -> DoneRules:
        """Check rules, write them, and wait for the engine.

        Args:
            wanted: the rules.
            signed: who changes them, and why.
            allowed: what mostly is a mistake, and is none here.
            wait_s: how long to wait for the engine; None: write nothing.
            removing: the rules only remove, so neither group nor clients need be known.

        Raises:
            UsageError: no rule is named, or one makes no sense; group or client is unknown.
            RefusedError: the change would end a release, or leave queues without a reader.
            EnvironmentMissingError: the topics cannot be read or written.
        """
        changes, after = self.check(wanted, signed)
        rules = [each.rule for each in changes if each.changes]
        if not allowed.released_ok:
            refuse_to_end_release(self.name, self.session.present, rules)
        live = None if removing else self._require_present(rules, allowed)
        notes = [*self._require_known(wanted)] if removing and not rules else []
        if not allowed.leave_unread and live is not None:
            require_readers(live.planned, rules)
        outcomes = self.write(changes, wait_s)
        notes += self.notes(wanted, after, live)
        failure = failure_of_rules(outcomes, wait_s or 0)
        notes += notes_of_rules(outcomes)
        return DoneRules(tuple(outcomes), tuple(notes), failure, self.session.topic)

    def check(
        self, wanted: Sequence[RuleSet], signed: Signature
    ) -> tuple[list[RuleChange], RulesInForce]:
        """Return the signed changes, and the rules that are then in force.

        Raises:
            UsageError: no rule is named, or the engine would refuse one.
        """
        if not wanted:
            raise UsageError(
                "nothing to do: no rule is named.",
                remedy=Way("See --help for the flags.", 'Name rules ("rules").'),
                field="rules",
                kind="no_rule",
            )
        named = [replace(rule, by=signed.by, because=signed.because) for rule in wanted]
        try:
            changes, after = changes_of(self.session.present, named)
        except BadRuleError as error:
            raise refusal_of(error) from error
        if any(rule.rule == "timing" for rule in wanted):
            self._check_times(after.rules)
        return changes, after

    def write(self, changes: Sequence[RuleChange], wait_s: float | None) -> list[RuleOutcome]:
        """Write the rules that change something; return the outcomes. None: write nothing.

        Raises:
            EnvironmentMissingError: the topics cannot be read or written.
        """
        if wait_s is not None:
            return self.session.write(changes, wait_s)
        return [
            RuleOutcome(each.rule, "not_written" if each.changes else "unchanged")
            for each in changes
        ]

    def notes(
        self, wanted: Sequence[RuleSet], after: RulesInForce, live: LiveGroup | None
    ) -> Iterator[str]:
        """Yield which rules have no effect, and which conf/ sets back; ``live``: the group."""
        yield from idle_note(after)
        if live is not None:
            yield from idle_pins(wanted, live.planned.members)
        yield from self._unknown_queues(wanted)
        yield from self._of_conf(wanted)

    def _require_present(self, rules: Sequence[RuleSet], allowed: Allowed) -> LiveGroup | None:
        return require_present(
            self.name,
            rules,
            self.settings,
            self.session.present.strategies,
            new_group=allowed.new_group,
            absent_ok=allowed.absent_ok,
        )

    def _require_known(self, wanted: Sequence[RuleSet]) -> Iterator[Words]:
        """Refuse an unknown group; of a known one, say that there is no such rule to remove."""
        strategies = self.session.present.strategies
        source = KafkaSource(self.settings.kafka)
        require_known(self.name, source, strategies, self.settings.engine.tick_ms)
        shows = Way(
            f"`fairlead group show {self.name}` shows", f"GET /v1/groups/{self.name}/rules lists"
        )
        named = ", ".join(map(rule_words, wanted))
        yield f"{named}: {self.name} has no such rule to remove; ", shows, " its rules"

    def _check_times(self, rules: GroupRules) -> None:
        """Refuse times that contradict each other, as conf/ does."""
        times = {name: getattr(rules, name) for name in TIMES}
        merged = self.settings.group_defaults.model_copy(update=times)
        for key, wrong, remedy in rule_contradictions(f"group.{self.name}", merged, self.settings):
            raise UsageError(f"{key}: {wrong}.", remedy=sentence(remedy), kind="bad_rule")

    def _unknown_queues(self, wanted: Sequence[RuleSet]) -> Iterator[str]:
        """Yield the queues that no route has: the rule waits for them."""
        for queue, brokers in unknown_queues(self.settings.kafka, wanted):
            known = ", ".join(f"{name} (queues 0 to {n - 1})" for name, n in brokers.items())
            yield f"{queue_words(queue)}: no route has this queue now; " + (
                f"{queue.topic} has {known}" if known else f"no route of {queue.topic} is known"
            )

    def _of_conf(self, wanted: Sequence[RuleSet]) -> Iterator[str]:
        strategies = self.session.present.strategies
        named: Mapping[tuple[str, str], Any] = wanted_rules(self.settings, strategies)
        kept = sorted({rule.rule for rule in wanted if (self.name, rule.rule) in named})
        if kept:
            table = "group_defaults" if self.name == "*" else f"group.{self.name}"
            yield (
                f"conf/ has {', '.join(kept)} in [{table}]: the next start of the engine restores "
                "that; change it there as well"
            )
