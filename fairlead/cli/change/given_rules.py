"""Flags of the command line as rules."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.cli.queue_flags import queue_and_value, queue_of
from fairlead.core.records import RuleSet
from fairlead.core.rules.group_rules import MAY_BE_NEVER, NEVER, TIMES, WORDS
from fairlead.core.rules.quota import QUOTA_BOUNDS
from fairlead.errors import UsageError

__all__ = [
    "GivenRules",
    "deadline_of",
    "given_rules",
    "gone_rules",
    "wanted_rules",
]

_OF_QUEUES: Final = ("pin", "ban", "weight")
_OF_CLIENTS: Final = ("capacity", "drain")
_WEIGHING: Final = ("weigh_by", "weigh_over_ms", "weigh_change_percent")
_DESIGNATED: Final = ("only", "topics", "if_nobody")


@dataclass(frozen=True, slots=True)
class GivenRules:
    """The flags that were given: values by their names on the wire.

    ``words``: the rules of one word, such as ``slots``. ``singles``: rule -> the texts of its flag.
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
    """Read flags, each given by its name; None or an empty list: not given.

    Raises:
        UsageError: a time cannot be read.
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
    """Return the rules that flags ask for, in a fixed order; `completed` fills them up.

    Raises:
        UsageError: a flag cannot be read.
    """
    wanted: list[tuple[str, tuple[str, ...], Any]] = []
    if given.strategy is not None or given.options is not None:
        options = {} if given.options is None else _options(given.options)
        wanted.append(("strategy", (), {"name": given.strategy, "options": options}))
    if given.timing:
        wanted.append(("timing", (), dict(given.timing)))
    wanted += [(rule, (), word) for rule, word in given.words.items()]
    if given.weighing:
        wanted.append(("weighing", (), dict(given.weighing)))
    if given.quota:
        wanted.append(("quota", (), _quota(given.quota)))
    if given.designated:
        if "only" not in given.designated:
            raise UsageError(
                "--only: it is missing.", remedy="--topics and --if-nobody need --only."
            )
        wanted.append(("designated", (), dict(given.designated)))
    wanted += _singles(given.singles)
    return [RuleSet(group, rule, subject, value) for rule, subject, value in wanted]


def _quota(texts: Sequence[str]) -> dict[str, int]:
    read = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in QUOTA_BOUNDS or not number.isdecimal():
            raise UsageError(
                f"--quota: {text!r} is no quota.",
                remedy=f"Give NAME=NUMBER, such as members=5000; names: {', '.join(QUOTA_BOUNDS)}.",
            )
        read[name] = int(number)
    return read


def deadline_of(text: str | None, flag: str = "--drain-deadline-ms") -> int | str | None:
    """Read the time of a flag: milliseconds, or ``never``; None: not given.

    Raises:
        UsageError: the text is neither.
    """
    if text is None or text == NEVER:
        return text
    if not text.isdecimal():
        raise UsageError(
            f"{flag}: {text!r} is no time.",
            remedy=f"Give whole milliseconds, or {NEVER}.",
        )
    return int(text)


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


def _options(text: str) -> Any:
    """Read options; a fraction becomes text, since records have no fractions."""
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
            subject, given_value = queue_and_value(rule, text)
            topic, broker_name, queue_id = subject
            queue = [topic, broker_name, int(queue_id)]
            if rule == "pin":
                yield rule, subject, {"queue": queue, "client_id": given_value}
            elif rule == "weight":
                yield rule, subject, {"queue": queue, "weight": given_value}
            else:
                banned.setdefault(subject, []).append(given_value)
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
