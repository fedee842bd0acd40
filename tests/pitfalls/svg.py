"""A story as a picture: a bar for each side of a queue, a colour for each process."""

from collections.abc import Iterator

from fairlead_proof.pitfalls.history import Joins
from fairlead_proof.pitfalls.ledger import Ledger
from fairlead_proof.pitfalls.picture import shown_queues
from fairlead_proof.pitfalls.pitfall import OURS, ROCKETMQ, PitfallRun

from fairlead.core.model import MessageQueue

__all__ = ["svg_of"]

WIDTH, LEFT, BAR, GAP, TOP = 760, 150, 14, 5, 34
COLOURS = (
    "#4e79a7", "#59a14f", "#b07aa1", "#9c755f", "#76b7b2", "#d4a017",
    "#1f5f8b", "#8cbf26", "#7b4f9d", "#6b4e3d", "#2f9e94", "#8c6d1f",
)  # fmt: skip
TWICE = "#d62728"


def svg_of(run: PitfallRun) -> str:
    """Return the picture of a story, with a line break at its end."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: PitfallRun) -> Iterator[str]:
    pitfall, queues = run.pitfall, shown_queues(run)
    height = TOP + len(queues) * (2 * (BAR + 1) + GAP) + 26
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">'
    )
    yield f"<title>{pitfall.title}</title>"
    yield f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    yield from _axis(run)
    processes = sorted(each.process for each in pitfall.history if isinstance(each, Joins))
    y = TOP
    for queue in queues:
        for side in (ROCKETMQ, OURS):
            name = f"{pitfall.scene.name_of(queue)}  " if side == ROCKETMQ else ""
            yield f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{name}{side}</text>'
            yield from _bar(run, run.sides[side].ledger, queue, processes, y)
            y += BAR + 1
        y += GAP
    yield from _legend(processes, y + 6)
    yield "</svg>"


def _x(run: PitfallRun, at_ms: int) -> float:
    pitfall = run.pitfall
    share = (at_ms - pitfall.from_ms) / (pitfall.to_ms - pitfall.from_ms)
    return round(LEFT + share * (WIDTH - LEFT - 10), 1)


def _axis(run: PitfallRun) -> Iterator[str]:
    from_ms, to_ms = run.pitfall.from_ms, run.pitfall.to_ms
    for index in range(5):
        at_ms = from_ms + (to_ms - from_ms) * index // 4
        anchor = "end" if index == 4 else "middle"
        yield (
            f'<text x="{_x(run, at_ms)}" y="12" text-anchor="{anchor}" fill="#666">'
            f"{at_ms / 1_000:g} s</text>"
        )
    for event in run.pitfall.history:
        if event.at_ms > from_ms:
            x = _x(run, event.at_ms)
            yield f'<path d="M{x} 16V{TOP - 4}" stroke="#000" stroke-width="1.5"/>'


def _bar(
    run: PitfallRun, ledger: Ledger, queue: MessageQueue, processes: list[str], y: int
) -> Iterator[str]:
    pitfall = run.pitfall
    for begin_ms, end_ms, owners in ledger.course(queue, pitfall.from_ms, pitfall.to_ms):
        x, width = _x(run, begin_ms), round(_x(run, end_ms) - _x(run, begin_ms), 1)
        if width <= 0:
            continue
        if not owners:
            yield (
                f'<rect x="{x}" y="{y + 0.5}" width="{width}" height="{BAR - 1}" fill="none" '
                'stroke="#999" stroke-dasharray="3 2"/>'
            )
            continue
        colour = TWICE if len(owners) > 1 else _colour(processes, owners[0])
        yield f'<rect x="{x}" y="{y}" width="{width}" height="{BAR}" fill="{colour}"/>'
        label = " + ".join(owners)
        if width > 8 * len(label):
            yield (
                f'<text x="{round(x + width / 2, 1)}" y="{y + 11}" text-anchor="middle" '
                f'fill="#fff">{label}</text>'
            )


def _colour(processes: list[str], process: str) -> str:
    return COLOURS[processes.index(process) % len(COLOURS)]


def _legend(processes: list[str], y: int) -> Iterator[str]:
    x = 20
    named = [(name, _colour(processes, name)) for name in processes]
    for name, colour in (*named, ("two at once", TWICE)):
        yield f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 14}" y="{y + 9}">{name}</text>'
        x += 22 + 6 * len(name)
    yield (
        f'<rect x="{x}" y="{y + 0.5}" width="10" height="9" fill="none" stroke="#999" '
        'stroke-dasharray="3 2"/>'
    )
    yield f'<text x="{x + 14}" y="{y + 9}">nobody; | an event</text>'
