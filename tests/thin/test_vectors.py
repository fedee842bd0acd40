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
def drawn() -> tuple[set[Shown], set[Shown]]:
    """All that the vectors show, of sessions that cannot stand by and of those that can."""
    kept, seen = vectors()
    standby, seen_standby = vectors(stands_by=True)
    text = written(kept, standby)
    assert FILE.read_text(encoding="utf-8") == text, "python -m tests.thin.vectors"
    return seen, seen_standby


@pytest.fixture(scope="module")
def shown(drawn: tuple[set[Shown], set[Shown]]) -> set[Shown]:
    """All that the vectors of sessions show that cannot stand by."""
    return drawn[0]


@pytest.fixture(scope="module")
def standing(drawn: tuple[set[Shown], set[Shown]]) -> set[str]:
    """All that the vectors of sessions show that can stand by, each as one text."""
    return {
        " ".join([*(str(word) for word in words if word), *(kind.split(" ")[0] for kind in kinds)])
        for *words, kinds in drawn[1]
    }


def test_the_session_does_what_the_vectors_say(document: Any) -> None:
    """Each event of each vector has the actions, the lease and the works that the file says."""
    assert len(document["vectors"]) > 200
    assert len(document["standby_vectors"]) > 200
    for number, steps in enumerate(document["vectors"]):
        assert json.loads(json.dumps(replayed(steps))) == steps, f"vector {number}"
    for number, steps in enumerate(document["standby_vectors"]):
        done = replayed(steps, stands_by=True)
        assert json.loads(json.dumps(done)) == steps, f"standby vector {number}"


def test_the_file_is_written_by_the_generator(shown: set[Shown]) -> None:
    """Nobody has changed the file by hand: the generator writes the same bytes."""
    assert shown


@pytest.mark.parametrize("state", [each for each in ThinState if each is not ThinState.CLOSED])
def test_every_event_meets_every_state(shown: set[Shown], state: ThinState) -> None:
    """The vectors show each event in each state in which it can come."""
    events = {event for before, event, *_ in shown if before == state}
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


@pytest.mark.parametrize(
    "turn",
    [
        "polling wait answered newest polling follow Follow SendPoll",
        "polling wait answered newest polling own StartWork SendPoll",
        "polling follow answered newest polling freeze Freeze SendPoll",
        "polling follow answered newest polling own StopFollowing SendPoll",
        "polling freeze frozen polling freeze SendPoll",
        "polling freeze answered newest polling freeze Freeze SendPoll",
        "polling freeze answered newest polling follow Follow SendPoll",
        "polling freeze answered newest polling own StartWork SendPoll",
        "polling freeze answered newest polling own StopWork",
        "polling freeze answered newest polling own StopWork StartWork",
        "polling freeze answered newest polling own StopFollowing SendPoll",
        "polling own unfollowed polling own SendPoll",
        "polling own stopped polling own SendPoll",
        "polling own answered newest polling follow Follow SendPoll",
        "polling own answered newest polling freeze Freeze SendPoll",
        "polling follow leave leaving follow StopFollowing SendPoll",
        "polling freeze leave leaving freeze StopWork SendPoll",
        "leaving freeze answered newest leaving own SendPoll",
        "leaving follow unfollowed ending follow SendLeave",
        "polling follow passed fenced wait StopAll",
        "polling freeze passed fenced wait StopAll",
        "fenced wait unfollowed joining wait SendJoin",
        "fenced wait stopped joining wait SendJoin",
    ],
)
def test_every_turn_of_standing_by_is_shown(standing: set[str], turn: str) -> None:
    """The vectors show take-overs, ways back, leaps, leaves and ended leases of who stands by."""
    assert turn in standing
