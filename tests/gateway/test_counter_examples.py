"""Runs that break a handover if a gateway writes what it learns before the client has confirmed it.

Each is a story with all rules in force: one thin client, gateways that have read less than others,
answers that get lost. The searches without the rules are in `tests/explorer/test_thin_rules.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fairlead_client.model import Epoch, Holder, Position, Process, Queue, Subscription
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.records import Add, Assigned, Assignment, Drop, Release
from fairlead_client.session.saved_session import SavedSession
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_client.thin.thin_words import Stopped, Work

from fairlead.gateway.hosted_session import HostedSession
from fairlead.gateway.poll_words import Answer, Poll

QUEUE = Queue("orders", "main", 0)
FIRST, SECOND, THIRD = Epoch(1, 2), Epoch(1, 3), Epoch(1, 4)
START = Position(0, 5)
NOW_MS = 1_000
OTHER = Holder("other", "other.1", SECOND)

SETTINGS = SessionSettings(
    "orders",
    "c0",
    Process(1, "c0"),
    (Subscription("orders"),),
    drain_deadline_ms=None,
    commits=False,
    gather_ms=0,
)


def word(
    epoch: Epoch,
    *assigned: tuple[Epoch, str],
    add: Sequence[Add] = (),
    drop: Sequence[Epoch] = (),
) -> Assignment:
    """Return an assignment of the client: what is new in it, and its whole set."""
    return Assignment(
        "orders",
        "c0",
        "c0.1",
        epoch.generation,
        epoch,
        drop=tuple(Drop(QUEUE, each) for each in drop),
        add=tuple(add),
        assigned=tuple(Assigned(QUEUE, each, state, None) for each, state in assigned),
    )


def added(epoch: Epoch, after: tuple[Holder, ...] = ()) -> Add:
    """Return an add of the queue."""
    return Add(QUEUE, epoch, START, after, None)


GRANT = word(FIRST, (FIRST, "held"), add=[added(FIRST)])
DROPPED = word(SECOND, (FIRST, "draining"), drop=[FIRST])


@dataclass(slots=True)
class Client:
    """A thin client; each of its polls reaches a gateway that knows nothing but the state."""

    saved: SavedSession
    told: frozenset[tuple[Queue, Epoch]] = frozenset()
    log: list[act.Action] = field(default_factory=list)
    news: bool = False
    _sequence: int = 0

    def poll(
        self,
        *read: Assignment | int | Release,
        working: tuple[Work, ...] = (),
        stopped: tuple[Stopped, ...] = (),
        leaving: bool = False,
        heard: bool = True,
    ) -> Answer:
        """Poll a gateway, which reads this; the client hears the answer, or it gets lost."""
        hosted = HostedSession(SETTINGS, self.saved, self.told, SeenReleases(), NOW_MS)
        self._sequence += 1
        said = Poll(self._sequence, working, stopped, None, leaving)
        written = hosted.begin(said, NOW_MS)
        self.log += written
        for event in map(_appended, written):
            if event is not None:
                hosted.appended(event, NOW_MS)
        for each in read:
            _read(hosted, each)
        self.news = hosted.has_news
        answer = hosted.answer(NOW_MS)
        if heard:
            self.saved, self.told = hosted.saved(), hosted.told
        return answer

    @property
    def releases(self) -> list[tuple[Epoch, Position | None]]:
        """The releases that the gateways have written."""
        return [
            (each.epoch, each.position) for each in self.log if isinstance(each, act.SendRelease)
        ]


def _appended(action: act.Action) -> on.Event | None:
    match action:
        case act.SendClaims(incarnation, generation):
            return on.ClaimsAppended(incarnation, generation)
        case act.SendRelease(incarnation, queue, epoch, position):
            return on.ReleaseAppended(incarnation, queue, epoch, position)
        case act.SendLeave(incarnation):
            return on.LeaveAppended(incarnation)
    return None


def _read(hosted: HostedSession, what: Assignment | int | Release) -> None:
    if isinstance(what, Release):
        hosted.read_release(what, NOW_MS)
    elif isinstance(what, int):
        hosted.read(what, None, (), NOW_MS)
    else:
        hosted.read(what.generation, what, (), NOW_MS)


def joined(generation: int = 1) -> Client:
    """Return a client that has joined."""
    hosted = HostedSession(SETTINGS, None, (), SeenReleases(), NOW_MS)
    heartbeat = hosted.join("c0.1", generation, NOW_MS)
    return Client(hosted.saved(), log=[heartbeat])


def works(at: int = 5) -> tuple[Work, ...]:
    """Return what a client says that works on the queue under its first grant."""
    return (Work(QUEUE, FIRST, at),)


def test_g1_never_started_is_said_by_the_client() -> None:
    """Who has read a drop writes nothing, since another gateway may know no more than the add."""
    client = joined()
    client.poll(DROPPED, heard=False)
    answer = client.poll(GRANT)
    assert [each.epoch for each in answer.start] == [FIRST]
    assert client.releases == []
    answer = client.poll(GRANT, DROPPED, working=works(6))
    assert [each.epoch for each in answer.stop] == [FIRST]
    client.poll(stopped=(Stopped(QUEUE, FIRST, 7),))
    assert client.releases == [(FIRST, Position(0, 7))]


def test_g2_the_client_acknowledges_a_generation() -> None:
    """Who has read a generation acknowledges nothing: another gateway may still obey the older."""
    client = joined()
    client.poll()
    client.poll(2, heard=False)
    answer = client.poll(GRANT)
    assert [each.epoch for each in answer.start] == [FIRST]
    client.poll(2, working=works())
    client.poll(working=works(6))
    claims = [each for each in client.log if isinstance(each, act.SendClaims)]
    assert [(each.generation, len(each.claims)) for each in claims] == [(1, 0), (2, 1)]
    assert claims[1].claims[0].state == "running"
    assert client.poll(GRANT, working=works()).start == ()


def test_g3_a_heartbeat_says_the_generation_that_the_client_confirms() -> None:
    """What a gateway has read shows in no heartbeat before the client has echoed it."""
    client = joined()
    client.poll()
    client.poll(2, heard=False)
    client.poll(2)
    client.poll()
    beats = [each.generation for each in client.log if isinstance(each, act.SendHeartbeat)]
    assert beats == [0, 1, 1, 1, 2]


def test_g4_what_was_dropped_is_started_by_no_gateway_that_lags() -> None:
    """The state names the newest assignment that was obeyed; gateways ignore older ones."""
    client = joined()
    client.poll(DROPPED)
    assert client.poll(GRANT).start == ()
    assert client.releases == [(FIRST, None)]
    assert client.poll(GRANT).start == ()


def test_g5_what_started_and_stopped_untold_is_released_by_the_client() -> None:
    """A grant that was started and dropped in one poll may be started by another gateway yet."""
    client = joined()
    answer = client.poll(GRANT, DROPPED, heard=False)
    assert (answer.start, answer.stop, answer.working) == ((), (), ())
    answer = client.poll(GRANT)
    assert [each.epoch for each in answer.start] == [FIRST]
    assert client.releases == []


def test_g5_what_stopped_untold_is_released_where_it_began() -> None:
    """Once the client echoes the state that says so, nobody can start the grant any more."""
    client = joined()
    client.poll(GRANT, DROPPED)
    client.poll()
    assert client.releases == [(FIRST, START)]
    assert client.poll(GRANT, DROPPED).start == ()
    assert client.releases == [(FIRST, START)]


def test_g6_a_join_acknowledges_nothing() -> None:
    """A join may come again when the client works: it writes a first heartbeat, and no claims."""
    client = joined(generation=2)
    assert [type(each) for each in client.log] == [act.SendHeartbeat]
    client.poll()
    assert [each.generation for each in client.log if isinstance(each, act.SendClaims)] == [2]


def test_g7_a_drop_of_what_never_started_is_answered_once() -> None:
    """Its answer is no news with each further poll, whichever gateways they reach."""
    client = joined()
    client.poll(DROPPED)
    assert client.news
    for _ in range(3):
        client.poll(DROPPED)
        assert not client.news
    assert client.releases == [(FIRST, None)]


def test_g7_a_new_word_is_answered_all_the_same() -> None:
    """A later assignment may drop another grant that was never started."""
    client = joined()
    client.poll(DROPPED)
    client.poll(word(Epoch(1, 5), (THIRD, "draining"), drop=[THIRD]))
    client.poll()
    assert client.releases == [(FIRST, None), (THIRD, None)]


def test_g7_who_leaves_answers_an_add_once() -> None:
    """A client that leaves starts nothing: the answer to an add is no news with each poll."""
    client = joined()
    client.poll(GRANT)
    client.poll(working=works(), leaving=True)
    again = word(THIRD, (FIRST, "draining"), (THIRD, "gated"), add=[added(THIRD, (OTHER,))])
    client.poll(again, working=works(), leaving=True)
    assert client.news
    for _ in range(3):
        client.poll(again, working=works(), leaving=True)
        assert not client.news
    assert client.releases == [(THIRD, None)]


def test_g8_a_gate_is_read_again() -> None:
    """No state has gates: each gateway reads the newest word, also one that was read before."""
    client = joined()
    client.poll(GRANT)
    client.poll(DROPPED, working=works())
    client.poll(stopped=(Stopped(QUEUE, FIRST, 6),))
    gated = word(THIRD, (THIRD, "gated"), add=[added(THIRD, (OTHER,))])
    assert client.poll(gated).start == ()
    released = Release("orders", QUEUE, OTHER, Position(0, 9))
    (start,) = client.poll(gated, released).start
    assert (start.epoch, start.offset) == (THIRD, 9)


def test_g9_a_start_is_told_before_it_is_written() -> None:
    """A gate that opens while a poll begins shows in no progress: its client knows of no start."""
    # In an eager group the own former work is no gate, so its release may open one at once.
    hosted = HostedSession(SETTINGS, joined().saved, (), SeenReleases(), NOW_MS)
    hosted.begin(Poll(1), NOW_MS)
    _read(hosted, GRANT)
    eager = [added(THIRD, (OTHER,))]
    _read(hosted, word(THIRD, (FIRST, "draining"), (THIRD, "gated"), add=eager, drop=[FIRST]))
    _read(hosted, Release("orders", QUEUE, OTHER, None))
    hosted.answer(NOW_MS)
    written = hosted.begin(Poll(2), NOW_MS)
    assert [each.epoch for each in written if isinstance(each, act.SendRelease)] == [FIRST]
    assert not [each for each in written if isinstance(each, act.SendProgress)]
    assert [each.epoch for each in hosted.answer(NOW_MS).start] == [THIRD]
