"""A script of one group's life, and the full trace of what the core answers.

A line that starts with ``>`` is a command; the lines after it, up to the next command or prose line
(``#``), are what the core wrote. The vocabulary is :data:`COMMANDS`; an epoch is written ``1.3``, a
queue by its number, a position by its offset or, behind a reset, as ``7/120``. A client that leaves
tells what it started ``last``. A rule may end with ``because`` and why. What a heartbeat says
otherwise than usual stands behind ``with``, as JSON: fields of its profile, and the ``expression``
of its topic, by tags. ``run`` is one step with everything that was written; ``settle`` steps until
everybody has obeyed, and tells the decisions and in one line each who got what.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from fairlead.core.membership.member_disagreement import SUBSCRIPTION_DISAGREEMENT
from fairlead.core.model import Epoch, MemberProfile, Position, Subscription
from fairlead.core.outputs import (
    Assignment,
    Cause,
    Decision,
    Gone,
    Notice,
    Output,
    Rejection,
    Request,
)
from fairlead.core.publishing.waiting import WAITING
from fairlead.core.records import Reset
from strategies.registry import STRATEGIES
from tests.core.rewritten import REWRITTEN
from tests.core.transcript_standby import former, look, standby
from tests.kit.group_settling import owners, settle, shares
from tests.kit.group_world import GROUP, GroupWorld, queue_of

__all__ = ["COMMANDS", "replay"]


def _epoch(text: str) -> Epoch:
    generation, number = text.split(".")
    return Epoch(int(generation), int(number))


def _position(text: str) -> Position:
    reset, _, offset = text.rpartition("/")
    return Position(int(reset or 0), int(offset))


def _beat(world: GroupWorld, words: list[str]) -> None:
    words, said = _cut(words, "with")
    words, zones = _cut(words, "in")
    says = json.loads(" ".join(said)) if said else {}
    topic = Subscription("orders", "tag", says.pop("expression", "*"))
    usual = MemberProfile(consume_from="first_offset", zone=zones[0] if zones else None)
    for word in words:
        client, _, life = word.partition("/")
        world.beat(client, life=int(life or 1), topics=[topic], profile=replace(usual, **says))


def _route(world: GroupWorld, words: list[str]) -> None:
    words, zones = _cut(words, "in")
    queues = None if words[0] == "deleted" else int(words[0])
    identity = words[1] if len(words) > 1 else "one"
    world.route(queues, identity=identity, zones=tuple(zones) or None)


def _cut(words: list[str], word: str) -> tuple[list[str], list[str]]:
    """Return what stands before a word, and what after it."""
    place = words.index(word) if word in words else len(words)
    return words[:place], words[place + 1 :]


def _bounds(world: GroupWorld, words: list[str]) -> None:
    identity = words[3] if len(words) > 3 else "one"
    world.bounds(int(words[0]), first=int(words[1]), last=int(words[2]), identity=identity)


def _committed(world: GroupWorld, words: list[str]) -> None:
    world.bounds(int(words[0]), committed=_position(words[1]))


def _release(world: GroupWorld, words: list[str]) -> None:
    words, last_started = _last_started(words)
    client, _, life = words[0].partition("/")
    offset = None if words[3] == "never" else _position(words[3])
    at, told = int(words[1]), _epoch(words[2])
    world.release(client, at, told, offset, life=int(life or 1), last_started=last_started)


def _last_started(words: list[str]) -> tuple[list[str], Epoch | None]:
    """Cut off what a client that leaves started last."""
    words, told = _cut(words, "last")
    return words, _epoch(told[0]) if told else None


def _progress(world: GroupWorld, words: list[str]) -> None:
    client, _, life = words[0].partition("/")
    world.progress(client, int(words[1]), _epoch(words[2]), int(words[3]), life=int(life or 1))


def _claims(world: GroupWorld, words: list[str]) -> None:
    client, _, life = words[0].partition("/")
    claims = []
    for word in words[1:]:
        number, epoch, offset, state = word.split(":")
        claims.append((int(number), _epoch(epoch), _position(offset), state == "running"))
    world.claims(client, *claims, life=int(life or 1))


def _leave(world: GroupWorld, words: list[str]) -> None:
    words, last_started = _last_started(words)
    client, _, life = words[0].partition("/")
    world.leave(client, int(life or 1), last_started)


def _rule(world: GroupWorld, words: list[str]) -> None:
    said, because = _reason(words[1:])
    world.rule(words[0], json.loads(" ".join(said)), because=because)


def _reason(words: list[str]) -> tuple[list[str], str | None]:
    if "because" not in words:
        return words, None
    at = words.index("because")
    return words[:at], " ".join(words[at + 1 :])


def _of_queue(
    rule: str, name: str, read: Callable[[str], object]
) -> Callable[[GroupWorld, list[str]], None]:
    def set_rule(world: GroupWorld, words: list[str]) -> None:
        (number, text), because = _reason(words)
        queue = queue_of(int(number))
        value = None if text == "none" else {"queue": [*queue], name: read(text)}
        world.rule(rule, value, queue.topic, queue.broker_name, number, because=because)

    return set_rule


def _of_client(rule: str, name: str) -> Callable[[GroupWorld, list[str]], None]:
    def set_rule(world: GroupWorld, words: list[str]) -> None:
        (client, text), because = _reason(words)
        value = None if text == "none" else {"client_id": client, name: text}
        world.rule(rule, value, client, because=because)

    return set_rule


def _drain(world: GroupWorld, words: list[str]) -> None:
    (client, *ended), because = _reason(words)
    value = None if ended == ["none"] else {"client_id": client}
    world.rule("drain", value, client, because=because)


def _reset(world: GroupWorld, words: list[str]) -> None:
    said, because = _reason(words)
    queue, offset = queue_of(int(said[0])), int(said[1])
    world.add("control", Reset(GROUP, queue, offset, "alice", because))


def _driver(world: GroupWorld, words: list[str]) -> None:
    world.driver(int(words[0]), marked="unmarked" not in words)


def _lost(world: GroupWorld, words: list[str]) -> None:
    world.lose(int(words[0]), marked="unmarked" not in words)


def _marker(world: GroupWorld, words: list[str]) -> None:
    world.marker = int(words[0])


def _time(world: GroupWorld, words: list[str]) -> None:
    world.pass_time(int(words[0]))


def _cap(world: GroupWorld, words: list[str]) -> None:
    world.chain_cap = int(words[0])


def _switch(world: GroupWorld, words: list[str]) -> None:
    world.switch_ms = int(words[0])


COMMANDS: dict[str, Callable[[GroupWorld, list[str]], None]] = {
    "beat": _beat,
    "route": _route,
    "bounds": _bounds,
    "committed": _committed,
    "release": _release,
    "progress": _progress,
    "claims": _claims,
    "leave": _leave,
    "rule": _rule,
    "pin": _of_queue("pin", "client_id", str),
    "ban": _of_queue("ban", "client_ids", lambda text: text.split(",")),
    "weight": _of_queue("weight", "weight", str),
    "capacity": _of_client("capacity", "capacity"),
    "drain": _drain,
    "reset": _reset,
    "driver": _driver,
    "lost": _lost,
    "marker": _marker,
    "time": _time,
    "cap": _cap,
    "switch": _switch,
    "standby": standby,
    "look": look,
    "former": former,
}
"""Command -> what it appends or changes; ``run`` and ``settle`` step over everything appended."""


def replay(script: str) -> str:
    """Run a transcript's commands and return it with the answers that the core gives now."""
    world = GroupWorld(strategies={**STRATEGIES, REWRITTEN.name: REWRITTEN})
    lines: list[str] = []
    for line in script.splitlines():
        if line.startswith("#") or not line.strip():
            lines.append(line)
        if not line.startswith(">"):
            continue
        lines.append(line)
        name, *words = line[1:].split()
        if name == "settle":
            lines.extend(f"  {text}" for text in _settled(world))
            continue
        if name != "run":
            COMMANDS[name](world, words)
            continue
        world.run()
        lines.extend(f"  {text}" for output in world.outputs for text in _worded(output))
        if not world.outputs:
            lines.append("  (nothing)")
    return "\n".join(lines) + "\n"


def _settled(world: GroupWorld) -> Iterator[str]:
    before = owners(world)
    for output in settle(world):
        if isinstance(output, Decision | Rejection):
            yield from _worded(output)
    yield from shares(world, before, owners(world))


def _worded(output: Output) -> Iterator[str]:
    match output:
        case Assignment():
            yield from _assignment(output)
        case Gone():
            yield f"gone {output.member.incarnation}"
        case Notice():
            told = output.code if output.code != WAITING else f"waiting ({output.reason or 'over'})"
            yield f"notice {told} to {output.member.incarnation}"
            if output.code == SUBSCRIPTION_DISAGREEMENT:
                yield f"  {output.message}"
        case Request():
            yield f"request {output.what} of {output.topic}"
        case Decision():
            state = output.state
            yield (
                f"decision {_dotted(output.epoch)} because {', '.join(output.triggers)}: "
                f"{state.phase}, {state.unassigned} of {state.queues} unassigned"
                + (f", {state.unsafe} unsafe" if state.unsafe else "")
                + (f", on footing {state.footing}" if state.footing else "")
                + ("" if state.exclusive else ", not exclusive")
                + "".join(f", alarm {alarm}" for alarm in output.alarms)
            )
            yield from (f"  {_set(cause)}" for cause in output.cause if cause.by is not None)
            yield from (
                f"  {each.kind}: {each.because}"
                for each in output.cause
                if each.by is None and each.because and output.state.footing
            )
            yield from (f"  {each.topic} fails: {each.code}" for each in output.failures)
        case Rejection():
            yield f"reject {output.reason} at {output.field}: {output.detail}; {output.remedy}"


def _set(cause: Cause) -> str:
    """Word a cause that is a rule, or a reset."""
    queue = None if cause.queue is None else str(cause.queue.queue_id)
    subject = cause.client_id or queue
    return (
        f"{cause.rule or cause.kind}"
        + (f" of {subject}" if subject else "")
        + (" removed" if cause.removed else "")
        + f" by {cause.by}"
        + (f", because {cause.because}" if cause.because else "")
    )


def _assignment(told: Assignment) -> Iterator[str]:
    held = " ".join(
        f"{entry.queue.queue_id}@{_dotted(entry.epoch)}:{entry.state}" for entry in told.assigned
    )
    held = held or told.standby or "own nothing"
    yield f"tell {told.member.incarnation} {_dotted(told.epoch)}: {held}"
    for drop in told.drop:
        turn = f" after {drop.linger_ms} ms" if drop.linger_ms else ""
        yield f"  drop {drop.queue.queue_id}@{_dotted(drop.epoch)}{turn}"
    for add in told.add:
        after = " ".join(f"{gate.member.incarnation}@{_dotted(gate.epoch)}" for gate in add.after)
        start = f"{add.position.reset}/{add.position.offset} ({add.why})"
        yield (
            f"  add {add.queue.queue_id}@{_dotted(add.epoch)} from {start}"
            + (f" after {after}" if after else "")
            + (" in place" if add.former else "")
        )


def _dotted(epoch: Epoch) -> str:
    return f"{epoch.generation}.{epoch.number}"
