"""The retry loop: how many attempts, in what time, after which errors."""

import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.send_attempts import SendAttempts
from fairlead_client.produce.send_error import Attempt, Fault, SendFailedError, SendingError
from fairlead_client.produce.target import Target

A, B, C = (Target(Queue("T", broker, 0), broker) for broker in "ABC")
GONE = SendingError(Fault.UNREACHABLE, "gone")


def attempts(**given: int) -> SendAttempts:
    """Return the loop of RocketMQ's defaults: three attempts in 3,000 ms."""
    settings = {"attempts_max": 3, "timeout_ms": 3_000, "begun_ms": 0}
    return SendAttempts(**settings | given)


def test_the_third_failure_is_final_and_names_all_attempts() -> None:
    """Each attempt knows where the message failed; the third failure is final and tells of all."""
    loop = attempts()
    assert loop.tried == []
    for now_ms, target, tried in ((0, A, ["A"]), (100, B, ["A", "B"])):
        loop.begin(target, now_ms)
        loop.failed(GONE, now_ms + 50)
        assert loop.tried == tried
    loop.begin(C, 200)
    with pytest.raises(SendFailedError) as caught:
        loop.failed(SendingError(Fault.BUSY, "busy"), 230)
    assert caught.value.attempts == (
        Attempt(A.queue, "A", 50, "gone"),
        Attempt(B.queue, "B", 50, "gone"),
        Attempt(C.queue, "C", 30, "busy"),
    )
    assert str(caught.value) == (
        "gave up after 3 attempts in 230 ms: T/0 on broker A: gone after 50 ms; "
        "T/0 on broker B: gone after 50 ms; T/0 on broker C: busy after 30 ms"
    )
    assert not caught.value.out_of_time


def test_all_attempts_share_one_budget() -> None:
    """All attempts share one budget; one may take its own limit, the last what is left."""
    loop = attempts(attempt_timeout_ms=1_200)
    assert loop.begin(A, 0) == 1_200
    loop.failed(GONE, 1_200)
    assert loop.begin(B, 1_200) == 1_200
    loop.failed(GONE, 2_400)
    assert loop.begin(C, 2_400) == 600
    loop = attempts(attempt_timeout_ms=2_000)
    assert loop.begin(A, 0) == 2_000
    loop.failed(GONE, 1_500)
    assert loop.begin(B, 1_500) == 1_500


def test_the_last_attempt_has_all_that_is_left() -> None:
    """Nothing comes after it that time would have to be kept for; nor after the only one."""
    loop = attempts()
    for now_ms, target in ((0, A), (10, B)):
        assert loop.begin(target, now_ms) == 1_000
        loop.failed(GONE, now_ms + 5)
    assert loop.begin(C, 20) == 2_980
    assert attempts(attempts_max=1).begin(A, 0) == 3_000
    assert attempts(attempts_max=1, attempt_timeout_ms=500).begin(A, 0) == 3_000


def test_a_share_is_of_the_messages_own_time() -> None:
    """Unless a limit is set, an attempt has its share of the time that this very message has."""
    assert attempts(timeout_ms=10_000).begin(A, 0) == 3_333
    assert attempts(timeout_ms=2).begin(A, 0) == 1


@pytest.mark.parametrize(
    "given, begun_ms, ended_ms, fault",
    [
        ({}, 0, 1_000, Fault.UNREACHABLE),
        ({}, 2_900, 3_000, Fault.OUT_OF_TIME),
        # Half of a share, at least.
        ({}, 2_500, 3_000, Fault.UNREACHABLE),
        ({}, 2_501, 3_000, Fault.OUT_OF_TIME),
        ({"attempts_max": 1}, 0, 3_000, Fault.UNREACHABLE),
        ({"timeout_ms": 900}, 0, 300, Fault.UNREACHABLE),
        ({"attempt_timeout_ms": 100}, 2_950, 3_000, Fault.UNREACHABLE),
        # No broker is slow that takes less than 50 ms.
        ({"timeout_ms": 60}, 0, 20, Fault.OUT_OF_TIME),
    ],
)
def test_who_is_blamed_for_silence(
    given: dict[str, int], begun_ms: int, ended_ms: int, fault: Fault
) -> None:
    """A broker that had its time, whether or not the message has any left; else nobody."""
    loop = attempts(**given)
    loop.begin(A, begun_ms)
    assert loop.silent(ended_ms) is fault


def test_without_time_no_attempt_is_left() -> None:
    """When the budget is used up no attempt is left, however few were made."""
    loop = attempts(attempt_timeout_ms=3_000)
    loop.begin(A, 0)
    with pytest.raises(SendFailedError, match="out of time after 1 attempts in 3000 ms") as caught:
        loop.failed(GONE, 3_000)
    assert caught.value.out_of_time
    late = attempts()
    with pytest.raises(SendFailedError, match="out of time after 0 attempts"):
        late.begin(A, 3_000)


@pytest.mark.parametrize("fault", Fault)
def test_everything_but_a_refusal_is_tried_elsewhere(fault: Fault) -> None:
    """Everything but a refusal is tried elsewhere."""
    loop = attempts()
    loop.begin(A, 0)
    if fault is Fault.REFUSED:
        with pytest.raises(SendFailedError):
            loop.failed(SendingError(fault, "why"), 1)
    else:
        loop.failed(SendingError(fault, "why"), 1)
        assert loop.begin(B, 1) > 0


def test_an_election_uses_up_time_and_no_attempt() -> None:
    """Queues without a leader are asked again, ever slower, until the message's time is over."""
    loop, now_ms = attempts(timeout_ms=5_000), 0
    nobody = SendingError(Fault.NOT_LEADER, "nobody leads")
    for pause_ms in (0, 100, 200, 400, 800, 1_000, 1_000):
        loop.begin(A, now_ms)
        assert loop.failed(nobody, now_ms + 5) == pause_ms
        now_ms += 5 + pause_ms
    loop.begin(A, now_ms)
    with pytest.raises(SendFailedError, match="out of time after 8 attempts in 4535 ms"):
        loop.failed(nobody, now_ms + 1_000)


def test_after_an_election_the_attempts_are_as_many_as_before() -> None:
    """What no leader took is not counted; what a broker failed to do is."""
    loop = attempts(attempts_max=2)
    for _ in range(3):
        loop.begin(A, 0)
        loop.failed(SendingError(Fault.NOT_LEADER, "nobody leads"), 0)
    loop.begin(A, 0)
    assert loop.failed(GONE, 0) == 0
    loop.begin(B, 0)
    with pytest.raises(SendFailedError, match="gave up after 5 attempts"):
        loop.failed(GONE, 0)


def test_a_single_attempt_meets_a_single_election() -> None:
    """A one-way message is not kept for the leader to come."""
    loop = attempts(attempts_max=1)
    loop.begin(A, 0)
    with pytest.raises(SendFailedError, match="gave up after 1 attempts"):
        loop.failed(SendingError(Fault.NOT_LEADER, "nobody leads"), 1)


def test_a_one_way_or_chosen_send_has_one_attempt() -> None:
    """A one-way message, and one whose queue was chosen, has a single attempt."""
    loop = attempts(attempts_max=1)
    loop.begin(A, 0)
    with pytest.raises(SendFailedError, match="gave up after 1 attempts"):
        loop.failed(GONE, 1)


def test_the_broker_that_was_met() -> None:
    """A sender knows better whom it met; a queue without leader blames nobody; the last is last."""
    loop = attempts(attempts_max=9)
    loop.begin(A, 0)
    loop.failed(SendingError(Fault.UNREACHABLE, "moved", broker="D"), 1)
    loop.begin(Target(A.queue, None), 1)
    loop.failed(SendingError(Fault.NOT_LEADER, "nobody"), 2)
    loop.begin(B, 2)
    loop.failed(GONE, 3)
    loop.begin(A, 3)
    loop.failed(SendingError(Fault.UNREACHABLE, "again", broker="D"), 4)
    assert loop.tried == ["B", "D"]
