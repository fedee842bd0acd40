"""A run as text: what goes wrong, the history, the picture, the counts and both courses."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.history import event_text
from fairlead_proof.pitfalls.ledger import PAUSE_MS
from fairlead_proof.pitfalls.picture import LEGEND, picture
from fairlead_proof.pitfalls.pitfall import OURS, ROCKETMQ, Pitfall, PitfallRun, Side
from fairlead_proof.pitfalls.rocketmq.network import FOR_EVER_MS, Trouble

__all__ = ["count_lines", "counts", "text_of", "trouble_lines"]

_WIDTH = 98
_CALLS = {
    "notification": "the notification to {}",
    "look_up": "{}'s look-up of the consumer ids",
    "persist": "offsets sent by {}",
    "heartbeat": "{}'s heartbeat",
}


def text_of(run: PitfallRun) -> str:
    """Return the whole text, with a line break at its end."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: PitfallRun) -> Iterator[str]:
    pitfall = run.pitfall
    yield f"{pitfall.title} ({pitfall.name})"
    yield ""
    for side, words in ((ROCKETMQ, pitfall.wrong), (OURS, pitfall.right)):
        yield from wrap(f"{side}: {words}", _WIDTH, subsequent_indent="  ")
    yield ""
    yield "What happens"
    for event in pitfall.history:
        yield f"  {_seconds(event.at_ms)} {event_text(event)}"
    yield from (f"  under RocketMQ: {line}" for line in trouble_lines(pitfall))
    yield ""
    yield from picture(run)
    yield f"{'':20}{LEGEND}"
    yield ""
    yield from count_lines(run)
    for side, made in run.sides.items():
        yield ""
        yield f"{side}, from {pitfall.from_ms / 1_000:g} s"
        for at_ms, line in made.ledger.lines:
            if pitfall.from_ms <= at_ms:
                yield f"  {_seconds(at_ms)} {line}"


def _seconds(at_ms: int) -> str:
    return f"{at_ms / 1_000:8.3f}"


def trouble_lines(pitfall: Pitfall) -> Iterator[str]:
    """Yield what goes wrong between RocketMQ's clients and brokers, one line each."""
    yield from (_trouble(each) for each in pitfall.network.troubles)
    for process, from_ms, broker in pitfall.network.asks:
        yield f"{process} asks {broker} for the consumer ids from {from_ms / 1_000:g} s"


def _trouble(trouble: Trouble) -> str:
    what = _CALLS[trouble.call].format(trouble.process)
    to = f" to {trouble.broker}" if trouble.broker else ""
    late = "lost" if trouble.late_ms is None else f"{trouble.late_ms / 1_000:g} s late"
    from_ms, to_ms = trouble.from_ms, trouble.to_ms
    since = f" from {from_ms / 1_000:g} s" if from_ms else ""
    until = f" until {to_ms / 1_000:g} s" if to_ms < FOR_EVER_MS else ""
    return f"{what}{to}: {late}{since}{until}"


def counts(run: PitfallRun) -> list[tuple[str, str, str]]:
    """Return the counts as (what, under RocketMQ, under ours)."""
    tallies = [run.sides[side].tally for side in (ROCKETMQ, OURS)]
    queues = run.pitfall
    rows = [
        ("queues owned twice", [_named(queues, each.twice) for each in tallies]),
        ("  queue seconds", [f"{each.twice_ms / 1_000:.1f}" for each in tallies]),
        ("queues of nobody", [_named(queues, each.nobody) for each in tallies]),
        ("  queue seconds", [f"{each.nobody_ms / 1_000:.1f}" for each in tallies]),
        ("messages read twice", [str(each.read_twice) for each in tallies]),
        ("messages not read", [str(each.unread) for each in tallies]),
        ("queues moved", [str(each.moves) for each in tallies]),
        ("queues of each client", [_numbers(run.sides[side]) for side in (ROCKETMQ, OURS)]),
        ("sent to clients about it", [str(each.told) for each in tallies]),
        (
            "longest pause of a queue",
            [f"{each.longest_pause_ms / 1_000:.2f} s" for each in tallies],
        ),
    ]
    return [(what, theirs, ours) for what, (theirs, ours) in rows]


def _named(pitfall: Pitfall, queues: Sequence[MessageQueue]) -> str:
    names = " ".join(pitfall.scene.name_of(queue) for queue in queues)
    return f"{len(queues)}: {names}" if queues else "0"


def _numbers(side: Side) -> str:
    return " ".join(str(number) for number in side.per_client)


def count_lines(run: PitfallRun) -> Iterator[str]:
    """Yield the counts as a table."""
    rows = counts(run)
    width = max(len(theirs) for _, theirs, _ in rows)
    yield f"{'':28}{ROCKETMQ:{max(width, len(ROCKETMQ))}}  {OURS}"
    for what, theirs, ours in rows:
        yield f"{what:28}{theirs:{max(width, len(ROCKETMQ))}}  {ours}"
    yield f"(nobody: for longer than {PAUSE_MS / 1_000:g} s)"
