"""A member behind a gateway: what it sends and commits, and when its application works."""

from collections.abc import Iterable
from typing import Any

import orjson
import pytest
from fairlead_client.errors import DuplicateClientIdError, GatewayError, NoticeError
from fairlead_client.model import Epoch, Position, Process, Progress, Queue, Subscription
from fairlead_client.session import events as on
from fairlead_client.session.actions import CommitProgress
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.session.states import SessionState
from fairlead_client.thin.thin_commits import ThinCommits
from fairlead_client.thin.thin_member import ThinMember
from fairlead_client.thin.thin_requests import ThinProfile
from fairlead_client.thin.thin_words import (
    Joined,
    NoticeWords,
    PollAnswer,
    Request,
    Start,
    Stop,
    WaitingWords,
)

FIRST, SECOND = Queue("orders", "main", 0), Queue("orders", "main", 1)
EPOCH = Epoch(1, 10)
Work = tuple[Queue, Epoch]


class Told(Application):
    """An application that notes each call."""

    def __init__(self) -> None:
        self.started: list[tuple[Queue, Position]] = []
        self.stopped: list[Queue] = []
        self.abandoned: list[Queue] = []

    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Note."""
        del epoch
        self.started.append((queue, position))

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Note."""
        del epoch
        self.stopped.append(queue)

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Note."""
        del epoch
        self.abandoned.append(queue)

    def collect_progress(self) -> list[on.ProgressMade]:
        """Return none: the test says it itself."""
        return []

    def closed(self) -> None:
        """Nothing of it is left to end."""


class Script:
    """A member, and the gateway's side by hand."""

    def __init__(self, *, commits: bool, drain_ms: int | None = None) -> None:
        self.told = Told()
        topics = (Subscription("orders"),)
        profile = ThinProfile("g", "me", {}, topics, Process(1, "p"), 1_000, drain_ms)
        kept = ThinCommits(5_000, 2_000) if commits else None
        self.member = ThinMember(profile, self.told, kept, Observer(), lambda: 1.0)
        self.now_ms = 1_000
        self.requests: list[Request] = []
        self.commits: list[CommitProgress] = []
        self.pass_ms(0)

    def pass_ms(self, ms: int) -> None:
        """Let time pass."""
        self.now_ms += ms
        self.member.pass_time(self.now_ms)
        self._take()

    def says(self, *said: on.Event) -> None:
        """Let the application, or a commit, say all this in one turn."""
        for event in said:
            self.member.handle(event, self.now_ms)
        self._take()

    def joins(self) -> None:
        """Answer the join."""
        self.member.reply(self.newest.number, Joined("s", "t", "me", 9_000, 3_000), self.now_ms)
        self._take()

    def answers(
        self,
        *starts: Start,
        stop: Iterable[Queue] = (),
        working: Iterable[Queue] = (),
        **more: Any,
    ) -> None:
        """Answer the newest request."""
        held = [*working, *(start.queue for start in starts)]
        answer = PollAnswer(
            "t",
            9_000,
            starts,
            tuple(Stop(queue, EPOCH, 30_000) for queue in stop),
            tuple((queue, EPOCH) for queue in held),
            **more,
        )
        self.member.reply(self.newest.number, answer, self.now_ms)
        self._take()

    def refuses(self, status: int | None, kind: str, reason: str = "") -> None:
        """Refuse the newest request."""
        error = GatewayError("no", kind=kind, status=status, reason=reason)
        self.member.reply(self.newest.number, error, self.now_ms)
        self._take()

    @property
    def newest(self) -> Request:
        """The newest request."""
        return self.requests[-1]

    @property
    def body(self) -> dict[str, Any]:
        """The body of the newest request."""
        return dict(orjson.loads(self.newest.body))

    def _take(self) -> None:
        for each in self.member.take_output():
            if isinstance(each, CommitProgress):
                self.commits.append(each)
            else:
                self.requests.append(each)


@pytest.fixture
def plain() -> Script:
    """A member that works on two queues, and commits nothing."""
    script = Script(commits=False)
    script.joins()
    script.answers(Start(FIRST, EPOCH, 100), Start(SECOND, EPOCH, 200))
    return script


@pytest.fixture
def committing() -> Script:
    """A member that has a lease and commits."""
    script = Script(commits=True)
    script.joins()
    return script


def test_what_is_said_in_one_turn_goes_in_one_request(plain: Script) -> None:
    """Two queues stop at the same time: one poll says both, and none is sent for the first."""
    plain.answers(stop=(FIRST, SECOND), working=(FIRST, SECOND))
    sent = len(plain.requests)
    plain.says(on.WorkStopped(FIRST, EPOCH, 101), on.WorkStopped(SECOND, EPOCH, 202))
    assert len(plain.requests) == sent + 1
    assert [entry["position"] for entry in plain.body["stopped"]] == [101, 202]


def test_a_poll_is_short_while_positions_move(plain: Script) -> None:
    """A poll waits for `progress_ms` while positions move, and as long as it may when they rest."""
    plain.says(on.ProgressMade(FIRST, EPOCH, 150))
    plain.answers(working=(FIRST, SECOND))
    assert plain.body["wait_ms"] == 1_000
    plain.answers(working=(FIRST, SECOND))
    assert plain.body["wait_ms"] == 3_000


def test_a_position_is_committed_before_the_queue_is_given_up(committing: Script) -> None:
    """The commit of the last position comes before the word that the queue has stopped."""
    committing.answers(Start(FIRST, EPOCH, 100, reset=0, identity="life"))
    committing.answers(stop=(FIRST,), working=(FIRST,))
    committing.says(on.WorkStopped(FIRST, EPOCH, 130))
    entry = Progress(FIRST, EPOCH, Position(0, 130), identity="life")
    assert committing.commits[-1].entries == (entry,)
    assert committing.body["stopped"] == []
    committing.says(on.CommitFinished((entry,), committed=True))
    assert [each["position"] for each in committing.body["stopped"]] == [130]


def test_a_hanging_commit_holds_no_queue(committing: Script) -> None:
    """A commit that does not end in its time holds nobody up."""
    committing.answers(Start(FIRST, EPOCH, 100))
    committing.answers(stop=(FIRST,), working=(FIRST,))
    committing.says(on.WorkStopped(FIRST, EPOCH, 130))
    committing.pass_ms(1_999)
    assert committing.body["stopped"] == []
    committing.pass_ms(1)
    assert [each["position"] for each in committing.body["stopped"]] == [130]


def test_nothing_is_committed_where_nothing_was_done(committing: Script) -> None:
    """The former holder has committed where it released: that is not committed once more."""
    committing.answers(Start(FIRST, EPOCH, 100, "release"))
    committing.answers(stop=(FIRST,), working=(FIRST,))
    committing.says(on.WorkStopped(FIRST, EPOCH, 100))
    assert committing.commits == []
    assert [each["position"] for each in committing.body["stopped"]] == [100]


def test_a_reset_is_committed_before_the_first_message(committing: Script) -> None:
    """The application begins behind an operator's reset when that is committed, and not before."""
    committing.answers(Start(FIRST, EPOCH, 100, reset=7))
    assert committing.told.started == []
    entry = committing.commits[-1].entries[0]
    assert entry.position == (7, 100)
    committing.says(on.CommitFinished((entry,), committed=False))
    assert committing.told.started == []
    committing.pass_ms(200)
    committing.says(on.CommitFinished(committing.commits[-1].entries, committed=True))
    assert len(committing.commits) == 2
    assert committing.told.started == [(FIRST, (7, 100))]


def test_a_queue_that_never_began_stops_where_it_would_have(committing: Script) -> None:
    """A stop comes while the reset is committed: the queue goes on at its start, elsewhere."""
    committing.answers(Start(FIRST, EPOCH, 100, reset=7))
    committing.answers(stop=(FIRST,), working=(FIRST,))
    assert (committing.told.started, committing.told.stopped) == ([], [])
    assert [each["position"] for each in committing.body["stopped"]] == [100]


def test_the_application_has_a_deadline() -> None:
    """An application that hangs loses its queue at the drain deadline, at its last progress."""
    script = Script(commits=False, drain_ms=300)
    script.joins()
    script.answers(Start(FIRST, EPOCH, 100))
    script.says(on.ProgressMade(FIRST, EPOCH, 120))
    script.answers(stop=(FIRST,), working=(FIRST,))
    script.pass_ms(299)
    assert script.told.abandoned == []
    script.pass_ms(1)
    assert script.told.abandoned == [FIRST]
    assert [each["position"] for each in script.body["stopped"]] == [120]
    assert FIRST not in script.member.ownership.epochs


def test_ownership_ends_with_the_lease(plain: Script) -> None:
    """What is owned counts until the lease of the newest answer, and from its request on."""
    assert plain.member.ownership.epochs == {FIRST: EPOCH, SECOND: EPOCH}
    until_ms = plain.member.ownership.until_ms
    plain.pass_ms(500)
    plain.answers(working=(FIRST, SECOND))
    assert plain.member.ownership.until_ms == until_ms
    plain.pass_ms(9_000)
    assert plain.member.ownership.epochs == {}
    assert plain.told.stopped == [FIRST, SECOND]
    assert plain.member.state is SessionState.FENCED


def test_a_join_that_is_wrong_is_final() -> None:
    """A field of the join is refused: the same join would be refused again, so the member ends."""
    script = Script(commits=False)
    script.refuses(422, "bad_field")
    assert script.member.state is SessionState.CLOSED
    assert isinstance(script.member.error, GatewayError)


@pytest.mark.parametrize("status", [None, 401, 403, 429, 500, 503])
def test_a_join_without_an_answer_comes_again(status: int | None) -> None:
    """No answer, or one that may change: the member asks again, after longer and longer pauses."""
    script = Script(commits=False)
    pauses = []
    for number in range(1, 6):
        assert len(script.requests) == number
        script.refuses(status, "x")
        begun_ms = script.now_ms
        while len(script.requests) == number:
            script.pass_ms(50)
        pauses.append(script.now_ms - begun_ms)
    assert pauses == sorted(pauses)
    assert pauses[0] <= 400
    assert pauses[-1] >= 3_000
    # One session, whichever of the joins arrive: another one would be a second member.
    assert {request.key for request in script.requests} == {"p-1"}


def test_a_join_after_a_lost_session_is_another_one() -> None:
    """It makes another session, and outranks the joins before it that may still arrive."""
    script = Script(commits=False)
    script.joins()
    script.refuses(409, "lost", "lease_ended")
    while script.newest.path.endswith("/poll"):
        script.pass_ms(50)
    assert script.newest.key == "p-2"
    assert script.body["process"] == {"start_ms": 1, "uuid": "p", "joins": 2}


def test_a_member_with_a_lease_asks_soon_enough(plain: Script) -> None:
    """With a lease no pause is so long that the lease ends unasked."""
    begun_ms, sent, refused = plain.now_ms, len(plain.requests), 0
    while plain.now_ms - begun_ms < 8_000:
        if plain.newest.number != refused:
            refused = plain.newest.number
            plain.refuses(None, "refused")
        plain.pass_ms(100)
    assert len(plain.requests) - sent >= 5
    assert plain.member.ownership.epochs


def test_the_refusal_of_a_given_up_request_is_nobodys(plain: Script) -> None:
    """Another gateway refuses the poll that was given up: it ends nothing, and is no failure."""
    former = plain.newest.number
    plain.says(on.DecisionWanted())
    assert plain.body["decide"] is True
    lost = GatewayError("no", kind="lost", status=409, reason="session_elsewhere")
    plain.member.reply(former, lost, plain.now_ms)
    assert plain.member.failure is None
    assert plain.member.ownership.epochs == {FIRST: EPOCH, SECOND: EPOCH}


def test_sessions_that_end_at_once_are_joined_less_and_less_often() -> None:
    """A gateway that refuses each first poll is not asked as fast as it answers."""
    script = Script(commits=False)
    waits = []
    for _ in range(5):
        script.joins()
        script.refuses(422, "unexpected_stop")
        begun_ms, sent = script.now_ms, len(script.requests)
        while len(script.requests) == sent and script.newest.key == "":
            script.pass_ms(50)
        waits.append(script.now_ms - begun_ms)
    assert waits[0] == 0
    assert waits[-1] >= 1_000


def test_a_duplicate_ends_for_good(plain: Script) -> None:
    """The lesser of two clients with one id stops all work, and does not join again."""
    plain.refuses(409, "lost", "duplicate_client_id")
    assert plain.told.stopped == [FIRST, SECOND]
    plain.says(on.WorkStopped(FIRST, EPOCH, None), on.WorkStopped(SECOND, EPOCH, None))
    assert plain.member.state is SessionState.CLOSED
    assert isinstance(plain.member.error, DuplicateClientIdError)


def test_notices_and_reasons_reach_the_application(plain: Script) -> None:
    """The application hears a repeated notice once, and each reason to wait as it is."""
    said = (NoticeWords("rejected", "a message"),)
    plain.answers(working=(FIRST,), notices=said, waiting=WaitingWords("paused", "the group is"))
    assert isinstance(plain.member.failure, NoticeError)
    assert plain.member.waiting is not None
    assert (plain.member.waiting.kind, plain.member.waiting.words) == ("paused", "the group is")
    plain.member.failure = None
    plain.answers(working=(FIRST,), notices=said)
    assert plain.member.failure is None
    assert plain.member.waiting is None


def test_a_promised_queue_may_start_at_any_moment(plain: Script) -> None:
    """Who waits for a release holds no fetch, which a queue that starts would have to wait for."""
    plain.answers(working=(FIRST,), waiting=WaitingWords("release", "c2 has it"))
    assert plain.member.gated
    plain.answers(working=(FIRST,), waiting=WaitingWords("paused", "the group is"))
    assert not plain.member.gated
    plain.answers(working=(FIRST,))
    assert not plain.member.gated


def test_work_that_cannot_start_ends_the_member(plain: Script) -> None:
    """The application cannot start its work: the member stops the rest, and leaves."""
    plain.says(on.WorkFailed(ValueError("no")))
    assert plain.told.stopped == [FIRST, SECOND]
    plain.says(on.WorkStopped(FIRST, EPOCH, 100), on.WorkStopped(SECOND, EPOCH, 200))
    assert plain.newest.method == "DELETE"
    assert [each["position"] for each in plain.body["stopped"]] == [100, 200]
    assert isinstance(plain.member.error, ValueError)
