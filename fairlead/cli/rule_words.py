"""Rules in the words of the command line: flags to rules, and rules to what a person reads."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from fairlead.cli.output import json_text
from fairlead.core.records import RuleSet
from fairlead.core.rules.group_rules import MAY_BE_NEVER, NEVER, TIMES, WORDS
from fairlead.core.rules.quota import QUOTA_BOUNDS
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.control.rule_change import BadRuleError

__all__ = [
    "GivenRules",
    "completed",
    "deadline_of",
    "given_rules",
    "gone_rules",
    "queue_of",
    "refusal_of",
    "rule_words",
    "sentence",
    "subject_words",
    "value_words",
    "wanted_rules",
]

_QUEUE: Final = r"([^/=]+)/(.+?)/(\d{1,10})"
_QUEUE_ALONE: Final = re.compile(_QUEUE)
_QUEUE_AND_VALUE: Final = re.compile(_QUEUE + "=(.+)", re.DOTALL)
_OF_QUEUES: Final = ("pin", "ban", "weight")
_DONE: Final = {"drain": "drained", "pause": "paused"}
_OF_CLIENTS: Final = ("capacity", "drain")
_WEIGHING: Final = ("weigh_by", "weigh_over_ms", "weigh_change_percent")
_DESIGNATED: Final = ("only", "topics", "if_nobody")


@dataclass(frozen=True, slots=True)
class GivenRules:
    """What flags say: values by their names on the wire, what was not given left out.

    ``words``: the rules that are one word, such as ``slots``. ``singles``: rule -> the texts of its
    flag. ``options`` None: not given.
    """

    strategy: str | None = None
    options: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    timing: Mapping[str, int | str] = field(default_factory=dict)
    weighing: Mapping[str, Any] = field(default_factory=dict)
    quota: Sequence[str] = ()
    designated: Mapping[str, Any] = field(default_factory=dict)
    singles: Mapping[str, Sequence[str]] = field(default_factory=dict)


def given_rules(**flags: Any) -> GivenRules:
    """Return what flags say, each handed over by its name; None or an empty list: not given.

    Raises:
        UsageError: a time that may be never cannot be read.
    """
    for name in sorted(MAY_BE_NEVER):
        flags[name] = deadline_of(flags.get(name), f"--{name.replace('_', '-')}")
    given = {name: value for name, value in flags.items() if value not in (None, [])}

    def among(names: Iterable[str]) -> dict[str, Any]:
        return {name: given[name] for name in names if name in given}

    return GivenRules(
        given.get("strategy"),
        given.get("options"),
        words=among(WORDS),
        timing=among(TIMES),
        weighing={name.removeprefix("weigh_"): value for name, value in among(_WEIGHING).items()},
        quota=given.get("quota", ()),
        designated=among(_DESIGNATED),
        singles=among((*_OF_QUEUES, *_OF_CLIENTS)),
    )


def wanted_rules(group: str, given: GivenRules) -> list[RuleSet]:
    """Return the rules that flags ask for, in a fixed order, to be `completed`.

    Raises:
        UsageError: a flag cannot be read.
    """
    found: list[tuple[str, tuple[str, ...], Any]] = []
    if given.strategy is not None or given.options is not None:
        options = {} if given.options is None else _options(given.options)
        found.append(("strategy", (), {"name": given.strategy, "options": options}))
    if given.timing:
        found.append(("timing", (), dict(given.timing)))
    found += [(rule, (), word) for rule, word in given.words.items()]
    if given.weighing:
        found.append(("weighing", (), dict(given.weighing)))
    if given.quota:
        found.append(("quota", (), _quota(given.quota)))
    if given.designated:
        if "only" not in given.designated:
            raise UsageError(
                "--only: it is missing.", remedy="--topics and --if-nobody go with --only."
            )
        found.append(("designated", (), dict(given.designated)))
    found += _singles(given.singles)
    return [RuleSet(group, rule, subject, value) for rule, subject, value in found]


def _quota(texts: Sequence[str]) -> dict[str, int]:
    read = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in QUOTA_BOUNDS or not number.isdecimal():
            raise UsageError(
                f"--quota: {text!r} is none.",
                remedy=f"Give members=5000; there are {', '.join(QUOTA_BOUNDS)}.",
            )
        read[name] = int(number)
    return read


def deadline_of(text: str | None, flag: str = "--drain-deadline-ms") -> int | str | None:
    """Read a time of a flag: milliseconds, or ``never``, as the rule has it; None: not given.

    Raises:
        UsageError: it is neither.
    """
    if text is None or text == NEVER:
        return text
    if not text.isdecimal():
        raise UsageError(
            f"{flag}: {text!r} is no time.",
            remedy=f"Give whole milliseconds, or {NEVER}.",
        )
    return int(text)


def completed(rules: Sequence[RuleSet], present: Mapping[str, Any], strategy: str) -> list[RuleSet]:
    """Return the rules with what flags left as it is.

    Args:
        rules: what is wanted.
        present: the values of the group's own rules, of which times, weighing and quota may
            be changed in part.
        strategy: the one in force, whose options ``--options`` alone are.
    """
    found = []
    for rule in rules:
        value: Any = rule.value
        if rule.rule == "strategy":
            value = {**value, "name": value["name"] or strategy}
        elif rule.rule in ("timing", "weighing", "quota"):
            value = {**present.get(rule.rule, {}), **value}
        found.append(replace(rule, value=value))
    return found


def gone_rules(
    group: str, names: Sequence[str], singles: Mapping[str, Sequence[str] | None]
) -> list[RuleSet]:
    """Return the removals of whole rules, and of rules of the queues and clients named.

    Raises:
        UsageError: a queue cannot be read.
    """
    removed = [RuleSet(group, name, (), None) for name in names]
    removed += [
        RuleSet(group, rule, queue_of(rule, text), None)
        for rule in _OF_QUEUES
        for text in singles.get(rule) or ()
    ]
    removed += [
        RuleSet(group, rule, (client_id,), None)
        for rule in _OF_CLIENTS
        for client_id in singles.get(rule) or ()
    ]
    return removed


def queue_of(flag: str, text: str) -> tuple[str, str, str]:
    """Return the queue that a flag names, as the key of a rule has it.

    Raises:
        UsageError: it names none.
    """
    found = _QUEUE_ALONE.fullmatch(text)
    if found is None:
        raise UsageError(f"--{flag}: {text!r} is no queue.", remedy="orders/main/3")
    return _subject(found)


def rule_words(rule: RuleSet) -> str:
    """Return a rule and whom it is for."""
    return " of ".join((rule.rule, "/".join(rule.subject))) if rule.subject else rule.rule


def refusal_of(error: "BadRuleError") -> UsageError:
    """Return the error of a rule that the engine would refuse, as a user reads it."""
    place = f"{rule_words(error.rule)}: " + (f"{error.field}: " if error.field else "")
    return UsageError(f"{place}{error.detail}.", remedy=sentence(error.remedy))


def sentence(words: str) -> str:
    """Return the words of an error of the core as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."


def subject_words(rule: RuleSet) -> str | None:
    """Return whom a rule is for, as flags write it; None: the whole group."""
    return "/".join(rule.subject) or None


def value_words(rule: RuleSet) -> str:
    """Return what a rule says, for people: the name of its subject left out."""
    value = rule.value
    if value is None:
        return "removed"
    match rule.rule:
        case "strategy":
            options = value.get("options")
            return f"{value['name']} {_json(options)}" if options else str(value["name"])
        case "timing" | "weighing" | "quota":
            return " ".join(f"{name}={each}" for name, each in value.items()) or "-"
        case "pin":
            return str(value["client_id"])
        case "ban":
            return " ".join(value["client_ids"])
        case "weight" | "capacity":
            return str(value[rule.rule])
        case "drain" | "pause":
            return _DONE[rule.rule]
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json_text(value)


def _options(text: str) -> Any:
    """Read options; a fraction becomes text, since records hold none."""
    try:
        return json.loads(text, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"--options: it is no JSON ({error}).", remedy="Quote it as JSON."
        ) from error


def _singles(
    singles: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    banned: dict[tuple[str, ...], list[str]] = {}
    for rule in _OF_QUEUES:
        for text in singles.get(rule, ()):
            subject, said = _of_queue(rule, text)
            topic, broker_name, queue_id = subject
            queue = [topic, broker_name, int(queue_id)]
            if rule == "pin":
                yield rule, subject, {"queue": queue, "client_id": said}
            elif rule == "weight":
                yield rule, subject, {"queue": queue, "weight": said}
            else:
                banned.setdefault(subject, []).append(said)
    for subject, clients in banned.items():
        topic, broker_name, queue_id = subject
        queue = [topic, broker_name, int(queue_id)]
        yield "ban", subject, {"queue": queue, "client_ids": clients}
    for text in singles.get("capacity", ()):
        client_id, sign, number = text.rpartition("=")
        if not sign:
            raise UsageError(
                f"--capacity: {text!r} has no number.",
                remedy="Write CLIENT=NUMBER, such as client=2.",
            )
        yield "capacity", (client_id,), {"client_id": client_id, "capacity": number}
    for client_id in singles.get("drain", ()):
        yield "drain", (client_id,), {"client_id": client_id}


def _of_queue(rule: str, text: str) -> tuple[tuple[str, ...], str]:
    found = _QUEUE_AND_VALUE.fullmatch(text)
    if found is None:
        after = "2.5" if rule == "weight" else "client"
        raise UsageError(
            f"--{rule}: {text!r} names no queue with what it is to have.",
            remedy=f"Write TOPIC/BROKER/NUMBER=…, such as orders/main/3={after}.",
        )
    return _subject(found), found.group(4)


def _subject(found: re.Match[str]) -> tuple[str, str, str]:
    """Return a queue as the key of a rule has it: its id without leading zeros."""
    return found.group(1), found.group(2), str(int(found.group(3)))
