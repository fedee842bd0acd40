"""The vectors for thin clients of other languages say what the session of the library does."""

import json
from typing import Any

import pytest
from fairlead_client.thin.thin_session import ThinState

from tests.thin.vectors import FILE, Shown, replayed, vectors, written


@pytest.fixture(scope="module")
def document() -> Any:
    """What the file holds."""
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shown() -> set[Shown]:
    """All that the vectors show."""
    kept, seen = vectors()
    assert FILE.read_text(encoding="utf-8") == written(kept), "python -m tests.thin.vectors"
    return seen


def test_the_session_does_what_the_vectors_say(document: Any) -> None:
    """Each event of each vector has the actions, the lease and the works that the file says."""
    assert len(document["vectors"]) > 200
    for number, steps in enumerate(document["vectors"]):
        assert json.loads(json.dumps(replayed(steps))) == steps, f"vector {number}"


def test_the_file_is_written_by_the_generator(shown: set[Shown]) -> None:
    """Nobody has changed the file by hand: the generator writes the same bytes."""
    assert shown


@pytest.mark.parametrize("state", [each for each in ThinState if each is not ThinState.CLOSED])
def test_every_event_meets_every_state(shown: set[Shown], state: ThinState) -> None:
    """The vectors show each event in each state in which it can come."""
    events = {event for before, event, *_ in shown if before is state}
    wanted = {"answered", "failed", "lost", "passed", "stopped", "subscribe", "leave", "left"}
    assert wanted - events == set()


@pytest.mark.parametrize(
    "turn, done",
    [
        ("polling answered former polling", ""),
        ("leaving answered former leaving", ""),
        ("joining answered former joining", ""),
        ("joining joined former joining", ""),
        ("joining joined newest ending", "SendLeave"),
        ("joining failed newest closed", "Close"),
        ("joining lost newest closed", "Close"),
        ("polling lost newest fenced", "StopAll"),
        ("polling lost former polling", ""),
        ("polling passed fenced", "StopAll"),
        ("leaving passed fenced", "StopAll"),
        ("ending passed closed", "StopAll Close"),
        ("polling answered newest fenced", "StopAll"),
        ("leaving answered newest ending", "Abandon SendLeave"),
        ("polling leave leaving", "StopWork SendPoll"),
        ("leaving stopped ending", "SendLeave"),
        ("fenced stopped joining", "SendJoin"),
        ("fenced stopped closed", "Close"),
        ("ending left closed", "Close"),
    ],
)
def test_every_turn_is_shown(shown: set[Shown], turn: str, done: str) -> None:
    """The vectors show losses, deadlines, leaves and late answers, with what follows from them."""
    found = {
        " ".join(kind.split(" ")[0] for kind in kinds)
        for *words, kinds in shown
        if " ".join(str(word) for word in words if word) == turn
    }
    assert done in found
