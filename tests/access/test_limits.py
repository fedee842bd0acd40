"""Limits of callers, with a clock that the tests move."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.access.limits import AtOnce, FailedLogins, TokenBucket
from fairlead.access.principals import ANYBODY, Limits, Principal
from fairlead.access.quotas import Quotas
from fairlead.access.refusals import AccessError
from fairlead.settings import LimitSettings

ONE = Principal("one")
OWN = Principal("own", limits=Limits(requests_per_second=1, requests_at_once=1, sessions=1))


def _quotas(**limits: int) -> Quotas:
    common = {"requests_per_second": 10, "requests_at_once": 2, "sessions": 2, "streams": 1}
    return Quotas(LimitSettings(**{**common, **limits}))


@given(st.lists(st.floats(0, 2), max_size=80), st.integers(1, 20), st.integers(1, 10))
def test_a_rate_holds_over_every_span(pauses: list[float], per_second: int, at_once: int) -> None:
    """However requests come, no span has more than its rate and what may come at once."""
    bucket, now, taken = TokenBucket(per_second, at_once), 0.0, []
    for pause in pauses:
        now += pause
        wait_s = bucket.take(now)
        if wait_s == 0:
            taken.append(now)
        else:
            assert 0 < wait_s <= 1 / per_second + 1e-9
    for index, begun in enumerate(taken):
        for count, end in enumerate(taken[index:], start=1):
            assert count <= at_once + (end - begun) * per_second + 1e-6


def test_a_clock_that_steps_back_gives_nothing() -> None:
    """A clock that steps back gives no requests away."""
    bucket = TokenBucket(1, 1)
    assert bucket.take(100) == 0
    assert bucket.take(50) == 1
    assert bucket.take(50.5) > 0


def test_too_many_requests_wait() -> None:
    """A principal above its rate gets 429 with the time to wait; others go on."""
    quotas = _quotas(requests_per_second=1)
    for _ in range(2):
        quotas.request(ONE, 0)
    with pytest.raises(AccessError) as refused:
        quotas.request(ONE, 0)
    problem = refused.value.problem
    assert (problem.status, problem.kind) == (429, "too_many_requests_per_second")
    assert problem.headers["retry-after"] == "1"
    assert "access.limits.requests_per_second" in problem.remedy
    quotas.request(Principal("other"), 0)
    quotas.request(ONE, 1)


def test_a_principal_may_have_limits_of_its_own() -> None:
    """Limits in the access file win over the common ones."""
    quotas = _quotas()
    quotas.request(OWN, 0)
    with pytest.raises(AccessError, match="limit of 1 requests per second"):
        quotas.request(OWN, 0)
    quotas.session(OWN, 0)
    with pytest.raises(AccessError, match="limit of 1 open sessions"):
        quotas.session(OWN, 1)


def test_a_stream_that_is_closed_twice_frees_one_place() -> None:
    """Streams are counted while they are open, whoever closes them."""
    quotas = _quotas(streams=2)
    leave = quotas.enter_stream(ONE)
    quotas.enter_stream(ONE)
    with pytest.raises(AccessError):
        quotas.enter_stream(ONE)
    leave()
    leave()
    assert quotas.streams(ONE) == 1
    quotas.enter_stream(ONE)
    with pytest.raises(AccessError):
        quotas.enter_stream(ONE)


def test_whoever_needs_no_login_has_no_limits() -> None:
    """Where all callers are one principal, its limits would be those of strangers together."""
    quotas = _quotas(requests_per_second=1)
    for count in range(100):
        quotas.request(ANYBODY, 0)
        quotas.session(ANYBODY, count)
        quotas.enter_stream(ANYBODY)


def test_no_limit_is_0() -> None:
    """A limit of 0 is none."""
    quotas = _quotas(requests_per_second=0, sessions=0)
    for count in range(1_000):
        quotas.request(ONE, 0)
        quotas.session(ONE, count)


@given(st.lists(st.sampled_from("ab+-"), max_size=60))
def test_nothing_is_forgotten(steps: list[str]) -> None:
    """The count is what entered less what left, whatever the order."""
    kept, expected, name = AtOnce(), {"a": 0, "b": 0}, "a"
    for step in steps:
        if step in "ab":
            name = step
        elif step == "+":
            expected[name] += kept.enter(name, 3)
        else:
            kept.leave(name)
            expected[name] = max(0, expected[name] - 1)
    assert {each: kept.count(each) for each in "ab"} == expected
    assert all(count <= 3 for count in expected.values())


def test_many_addresses_fill_no_memory() -> None:
    """A flood of addresses is remembered up to a number."""
    failed = FailedLogins(2, 60)
    for number in range(30_000):
        failed.failed(str(number), 0)
        failed.succeeded(str(number), "x")
    assert len(failed._failed) == len(failed._succeeded) == 10_000  # noqa: SLF001 - what it holds
