"""The vectors of the thin session: what a client in any language has to do, step by step.

`python -m tests.thin.vectors` writes them. A vector is kept only if it shows something that no
vector before it showed, so a few hundred of them show all that thousands of drawn ones do.
"""

import json
from pathlib import Path
from random import Random
from typing import Any, Final

from fairlead_client.thin import thin_session as words

from tests.thin.random_gateway import RandomGateway
from tests.thin.random_standby import RandomStandby
from tests.thin.vector_words import QUEUES, Row, action_row, handle, queue_of

__all__ = ["FILE", "Shown", "replayed", "vectors"]

FILE: Final = Path(__file__).parents[2] / "clients" / "vectors" / "thin_session.json"
DRAWN: Final = 6_000
DRAWN_STANDBY: Final = 2_500
STEPS: Final = 16

Shown = tuple[str, str, str, str, tuple[str, ...]]
"""State before, event, whether it was about the newest request, state after, kinds of actions. Of
one that stands by, a state ends with its standing."""


def vectors(*, stands_by: bool = False) -> tuple[list[list[Row]], set[Shown]]:
    """Return the vectors, each a list of steps, and all that they show."""
    kept: list[list[Row]] = []
    seen: set[Shown] = set()
    for seed in range(DRAWN_STANDBY if stands_by else DRAWN):
        steps, shown = _drawn(seed, stands_by=stands_by)
        new = [number for number, each in enumerate(shown) if each not in seen]
        if new:
            kept.append(steps[: new[-1] + 1])
            seen.update(shown)
    return kept, seen


def replayed(steps: list[Row], *, stands_by: bool = False) -> list[Row]:
    """Return the steps with what a session does today at each of their events."""
    session = words.ThinSession(stands_by)
    return [_step(session, at, event)[0] for at, event, *_ in steps]


def _drawn(seed: int, *, stands_by: bool) -> tuple[list[Row], list[Shown]]:
    session = words.ThinSession(stands_by)
    world = (RandomStandby if stands_by else RandomGateway)(Random(seed))
    steps: list[Row] = []
    shown: list[Shown] = []
    event: Row = ["passed"]
    while len(steps) < STEPS and session.state is not words.ThinState.CLOSED:
        newest = world.requests[-1] if world.requests else 0
        asked = _about(event, newest)
        before = _state(session)
        step, actions = _step(session, world.now_ms, event)
        world.see(actions)
        steps.append(step)
        kinds = tuple(dict.fromkeys(_kind(action) for action in actions))
        shown.append((before, event[0], asked, _state(session), kinds))
        event = world.next_event(session.next_deadline_ms())
    return steps, shown


def _state(session: words.ThinSession) -> str:
    return f"{session.state}{f' {session.standing}' * session.stands_by}"


def _kind(action: words.Action) -> str:
    """Return an action's name; of a poll also whether it says something, and of how many works."""
    name = type(action).__name__
    if not isinstance(action, words.SendPoll | words.SendLeave):
        return name
    poll = action.poll
    more = (min(len(poll.working), 2), min(len(poll.stopped), 2), poll.subscriptions is not None)
    said = f"{name} {more[0]} {more[1]}{' topics' * more[2]}"
    return said if poll.frozen is None else f"{said} frozen {min(len(poll.frozen.queues), 2)}"


def _about(event: Row, newest: int) -> str:
    if event[0] not in ("joined", "answered", "failed", "lost"):
        return ""
    return "newest" if event[1] == newest else "former"


def _step(session: words.ThinSession, now_ms: int, event: Row) -> tuple[Row, list[words.Action]]:
    """Return [time, event, actions, state, lease's end, next deadline, works] and the actions."""
    actions = handle(session, event, now_ms)
    works = [session.works(queue_of(number), now_ms) for number in range(QUEUES)]
    row: Row = [
        now_ms,
        event,
        [action_row(action) for action in actions],
        session.state.value,
        session.lease_until_ms,
        session.next_deadline_ms(),
        [[number, list(epoch)] for number, epoch in enumerate(works) if epoch is not None],
    ]
    if session.stands_by:
        row += [session.standing.value, session.follows(now_ms)]
    return row, actions


def written(kept: list[list[Row]], standby: list[list[Row]]) -> str:
    """Return the file: one line for each step, so that a change shows where it is."""
    head: dict[str, Any] = {
        "about": "Steps of the thin session; clients/README.md explains them.",
        "step": [
            *("at", "event", "actions", "state", "lease_until", "next_deadline", "works"),
            *("standing", "follows"),
        ],
    }
    lists = f',\n"vectors":[\n{_lines(kept)}\n],\n"standby_vectors":[\n{_lines(standby)}\n]}}\n'
    return json.dumps(head)[:-1] + lists


def _lines(kept: list[list[Row]]) -> str:
    return ",\n".join(
        "[\n" + ",\n".join(json.dumps(step, separators=(",", ":")) for step in steps) + "\n]"
        for steps in kept
    )


def main() -> None:
    """Write the file."""
    kept, _ = vectors()
    standby, _ = vectors(stands_by=True)
    FILE.write_text(written(kept, standby), encoding="utf-8")


if __name__ == "__main__":
    main()
