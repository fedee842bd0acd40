"""The state of a thin client: it says the same to every gateway, and nobody can make one up."""

import base64
from dataclasses import replace
from random import Random

import pytest
from fairlead_client.model import DataPlane, Epoch, Position, Process, Queue, Subscription
from fairlead_client.session.saved_session import (
    SavedQueue,
    SavedRelease,
    SavedSession,
    SavedStanding,
)
from fairlead_client.session.states import Standing
from hypothesis import given
from hypothesis import strategies as st

from fairlead.gateway.client_state import ClientState, StateError, StateSeal
from fairlead.gateway.member_profile import MemberProfile

KEY = b"a key of thirty-two bytes, or more"
TEXTS = st.text(min_size=1, max_size=20)
NUMBERS = st.integers(min_value=0, max_value=2**63 - 1)
EPOCHS = st.builds(Epoch, NUMBERS, NUMBERS)
QUEUES = st.builds(Queue, TEXTS, TEXTS, st.integers(min_value=0, max_value=2**31 - 1))
POSITIONS = st.builds(Position, NUMBERS, NUMBERS)
MAYBE_TEXTS = st.none() | TEXTS
SAVED_QUEUES = st.builds(
    SavedQueue,
    QUEUES,
    EPOCHS,
    st.booleans(),
    POSITIONS,
    MAYBE_TEXTS,
    MAYBE_TEXTS,
    st.none() | st.integers(min_value=1, max_value=2**62),
)
SAVED = st.builds(
    SavedSession,
    TEXTS,
    NUMBERS,
    NUMBERS,
    st.booleans(),
    st.none() | EPOCHS,
    st.booleans(),
    st.booleans(),
    st.lists(SAVED_QUEUES, max_size=5, unique_by=lambda each: each.queue).map(tuple),
    st.lists(
        st.builds(SavedRelease, QUEUES, EPOCHS, st.none() | POSITIONS, MAYBE_TEXTS, MAYBE_TEXTS),
        max_size=3,
    ).map(tuple),
)
STANDINGS = st.builds(
    SavedStanding, st.sampled_from(Standing), EPOCHS, EPOCHS, st.none() | EPOCHS, st.booleans()
)
PROFILES = st.builds(
    MemberProfile,
    principal=TEXTS,
    group=TEXTS,
    client_id=TEXTS,
    process=st.builds(Process, NUMBERS, TEXTS),
    consume_timestamp_ms=st.none() | NUMBERS,
    zone=MAYBE_TEXTS,
)
STATES = st.builds(
    ClientState,
    PROFILES,
    st.lists(st.builds(Subscription, TEXTS, TEXTS), max_size=3).map(tuple),
    NUMBERS,
    NUMBERS,
    SAVED,
    st.just(frozenset()),
)


def state_of(queues: int) -> ClientState:
    """Return the state of a client that works on so many queues, with long numbers."""
    chance = Random(3)
    saved_queues = tuple(
        SavedQueue(
            Queue(f"orders-of-region-{number % 4}", "main", number),
            Epoch(12, chance.randrange(10**6)),
            works=True,
            position=Position(0, chance.randrange(10**12)),
            identity=f"W3XrV0pUSt2Qh0nHkS5Zt{number % 4}",
        )
        for number in range(queues)
    )
    saved = SavedSession(
        "2d4e55c2-088e-87bb-b251-5b8a14595b85",
        4_000_000,
        12,
        claimed=True,
        applied=Epoch(12, 10**6),
        leaving=False,
        left=False,
        queues=saved_queues,
        releases=(),
    )
    profile = MemberProfile(
        principal="orders-team",
        group="orders",
        client_id="orders-7f",
        process=Process(1_781_000_000_000, "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11"),
    )
    told = frozenset((each.queue, each.started) for each in saved_queues)
    topics = tuple(Subscription(f"orders-of-region-{number}") for number in range(4))
    return ClientState(profile, topics, 10_000, 17, saved, told)


@given(STATES, STANDINGS, MAYBE_TEXTS)
def test_a_state_says_who_decides(
    state: ClientState, standing: SavedStanding, follows: str | None
) -> None:
    """One that says where it reads has its standing in the state; others have no more than ever."""
    plane = DataPlane("rocketmq", "10.0.0.7@4121")
    profile = replace(state.profile, data_plane=plane, follows=follows)
    known = replace(state, profile=profile, saved=replace(state.saved, standing=standing))
    assert StateSeal([KEY]).open(StateSeal([KEY]).seal(known)) == known


@given(STATES)
def test_a_state_says_to_every_gateway_what_it_said_to_the_first(state: ClientState) -> None:
    """Nothing is lost on the way, and the same state is the same text."""
    known = replace(
        state,
        told=frozenset((each.queue, each.started) for each in state.saved.queues[::2]),
    )
    text = StateSeal([KEY]).seal(known)
    assert StateSeal([KEY]).open(text) == known
    assert StateSeal([KEY]).seal(known) == text


def test_two_hundred_queues_fit_into_eight_kib() -> None:
    """The text of a client with 200 queues is no longer."""
    assert len(StateSeal([KEY]).seal(state_of(200))) <= 8_192


def test_a_changed_state_is_refused_wherever_it_was_changed() -> None:
    """Every byte counts."""
    seal = StateSeal([KEY])
    text = seal.seal(state_of(3))
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    for place in range(len(raw)):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        with pytest.raises(StateError):
            seal.open(base64.urlsafe_b64encode(changed).decode())


@pytest.mark.parametrize("text", ["", "x", "é", "!" * 40, "A" * 70_000, "AAAA" * 20, "\x00"])
def test_what_no_gateway_has_made_is_refused(text: str) -> None:
    """Whatever else a client sends is no state."""
    with pytest.raises(StateError):
        StateSeal([KEY]).open(text)


def test_a_cut_state_is_refused() -> None:
    """Half a state is none."""
    text = StateSeal([KEY]).seal(state_of(3))
    for length in range(0, len(text), 7):
        with pytest.raises(StateError):
            StateSeal([KEY]).open(text[:length])


def test_a_state_of_another_key_is_refused() -> None:
    """Gateways that share no key share no clients."""
    with pytest.raises(StateError, match="no gateway with this key"):
        StateSeal([b"another key"]).open(StateSeal([KEY]).seal(state_of(1)))


def test_a_former_key_is_accepted_while_it_is_named() -> None:
    """A key can be replaced without a client that has to join again."""
    text = StateSeal([KEY]).seal(state_of(1))
    assert StateSeal([b"the new key", KEY]).open(text) == state_of(1)
