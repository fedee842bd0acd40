"""What a caller may cost a gateway: time for wrong bodies, memory for invented names, sessions."""

import base64
import hashlib

import orjson
import pytest
from fairlead_client.model import Queue
from fairlead_client.thin.thin_words import Work
from pydantic import ValidationError

from fairlead.gateway.client_state import StateError, StateSeal
from fairlead.gateway.outputs import Refusal
from fairlead.gateway.requests import JoinBody, PollBody, body_of
from fairlead.gateway.session_leases import SessionLeases
from tests.gateway.gateway_world import FIRST, LEASE_MS, Thin, World, work, working


def test_a_body_with_thousands_of_faults_is_refused_at_the_first() -> None:
    """To list them all took a second of the loop on which all clients wait."""
    body = {"state": "s", "sequence": 1, "working": [{}] * 9_999, "stopped": [{}] * 9_999}
    with pytest.raises(ValidationError) as refused:
        PollBody.model_validate_json(orjson.dumps(body))
    assert refused.value.error_count() < 20


def test_a_long_name_is_cut_in_the_refusal() -> None:
    """Whoever reads the log does not read what a caller has invented."""
    body = orjson.dumps({"client_id": "a", "topics": [{"topic": "t"}], "x" * 100_000: 1})
    refusal = body_of(JoinBody, body)
    assert isinstance(refusal, Refusal)
    assert len(refusal.detail) < 200


def test_names_that_the_session_does_not_have_are_forgotten() -> None:
    """A client may name other works in each poll; the gateway keeps its own works alone."""
    world = World()
    thin = working(world)
    for number in range(5):
        invented = [Work(Queue("t", "b", 100 * number + each), FIRST, 1) for each in range(100)]
        thin.poll(world.gateways[0], work(), *invented)
    kept = world.gateways[0]._kept.get(thin.session)  # noqa: SLF001 - what is held is not shown
    assert kept is not None
    assert len(kept.hosted._told) <= 1  # noqa: SLF001 - as above


def test_a_session_counts_until_its_lease_is_over() -> None:
    """Also if the connection of each poll breaks: its member stands in the group."""
    world = World()
    thin = working(world)
    gateway = world.gateways[0]
    request = thin.ask(gateway, work(), wait_ms=3_000)
    gateway.gave_up(request, thin.session)
    assert gateway.leases.count("team") == 1
    world.pass_time(LEASE_MS)
    gateway.forget(world.now_ms, world.now_ms)
    assert (gateway.leases.count("team"), len(gateway.leases)) == (0, 0)


def test_a_session_that_has_ended_counts_no_more() -> None:
    """Its place is free at once."""
    world = World()
    world.claim_generation()
    thin = Thin(world)
    thin.join(world.gateway())
    assert world.gateways[0].leases.count("team") == 1
    thin.ask(world.gateways[0], leaving=True, ending=True)
    assert len(world.gateways[0].leases) == 0


def test_leases_are_counted_once_each() -> None:
    """A renewed one is the same one; one that ends twice frees one place."""
    leases = SessionLeases()
    leases.renew("a", "1", 10)
    leases.renew("a", "1", 20)
    leases.renew("a", "2", 15)
    leases.renew("b", "3", 30)
    assert (leases.count("a"), len(leases)) == (2, 3)
    leases.end("a", "2")
    leases.end("a", "2")
    leases.forget(20)
    assert (leases.count("a"), leases.count("b"), len(leases)) == (0, 1, 1)


@pytest.mark.parametrize("document", [[], [1, 2, 3], {"v": 1}, [[1], [], [1, 2], [], [], [], []]])
def test_a_state_of_another_version_is_no_failure(document: object) -> None:
    """A gateway of another version has sealed it with the same key: the client joins again."""
    key = b"the key of these gateways"
    plain = orjson.dumps(document)
    seal = StateSeal([key])
    derived = hashlib.sha256(b"fairlead gateway state\0" + key).digest()
    for version in (b"1", b"4"):
        body = version + plain
        mac = hashlib.blake2b(body, key=derived, digest_size=16).digest()
        text = base64.urlsafe_b64encode(mac + body).decode().rstrip("=")
        with pytest.raises(StateError, match="another version"):
            seal.open(text)
