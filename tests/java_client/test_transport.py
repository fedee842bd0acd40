"""The member's requests in a bad network, with tokens, and over TLS."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.certificates import Certificates
from tests.java_client.probe import Probe
from tests.java_client.scripted_gateway import ScriptedGateway, scripted_gateway, start
from tests.kit.awaiting import await_seen

pytestmark = pytest.mark.java

Member = Callable[..., Probe]


def test_pauses_grow(gateway: ScriptedGateway, member: Member) -> None:
    """A gateway that says 503 is asked less and less often, and a good answer ends the pauses."""
    member(gateway.address)
    times = []
    for _ in range(4):
        asked = gateway.next("/members")
        times.append(asked.at)
        asked.answer(503, {"detail": "not ready"})
    gateway.join()
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[0] >= 0.2
    assert gaps[1] >= 0.4
    assert gaps[2] >= 0.8
    first = gateway.poll()
    first.news()
    failed = gateway.poll()
    failed.answer(503)
    assert 0.2 <= gateway.poll().at - failed.at < 0.2 + gaps[2]


def test_the_gateway_may_ask_for_a_pause(gateway: ScriptedGateway, member: Member) -> None:
    """`Retry-After` of a 429 counts if it is longer than the client's own pause."""
    member(gateway.address)
    asked = gateway.next("/members")
    asked.answer(429, None, Retry_After="2")
    assert gateway.next("/members").at - asked.at >= 2.0


@pytest.mark.parametrize(
    "status, body",
    [
        (200, b"no json"),
        (200, b'{"state":"x"}'),
        (200, b'{"state":"x","lease_ms":"9","start":[],"stop":[],"working":[]}'),
        (200, b'{"state":"x","lease_ms":-1,"start":[],"stop":[],"working":[]}'),
        (200, b'{"state":"x","lease_ms":9000,"start":[{}],"stop":[],"working":[]}'),
        (200, b" " * 9_000_000),
        (500, b"\xff\xfe"),
        (503, b""),
        (502, b"<html>"),
        (408, b""),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_bad_answer_is_none(
    gateway: ScriptedGateway, member: Member, status: int, body: bytes
) -> None:
    """What is no answer leaves lease, state and work as they are, and the client polls again."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(state="t2", start=[start(0, 100)])
    bad = gateway.poll()
    bad.answer(status, body)
    again = gateway.poll()
    assert again.sequence > bad.sequence
    assert again.body["state"] == "t2"
    assert running.ask("works", 0) == ["works", 0, [1, 7]]


def test_a_broken_connection_is_no_answer(gateway: ScriptedGateway, member: Member) -> None:
    """A poll whose connection breaks goes out again, with the same state."""
    running = member(gateway.address)
    gateway.join()
    gateway.poll().news(state="t2", start=[start(0, 100)])
    cut = gateway.poll()
    cut.cut()
    again = gateway.poll()
    # Java itself sends a request once more over a new connection, with the number that it had.
    assert again.sequence >= cut.sequence
    assert again.body["state"] == "t2"
    again.news()
    assert running.ask("works", 0) == ["works", 0, [1, 7]]


def test_another_address_takes_over(gateway: ScriptedGateway, member: Member) -> None:
    """The next address serves if one is not there, or stops answering, within the lease."""
    with scripted_gateway() as other:
        with scripted_gateway() as gone:
            nobody = gone.address
        running = member(nobody, gateway.address, other.address)
        gateway.join()
        gateway.poll().news(state="t2", start=[start(0, 100)])
        gateway.poll().answer(503)
        taken = other.poll()
        assert taken.body["state"] == "t2"
        taken.news()
        assert running.ask("works", 0) == ["works", 0, [1, 7]]


def test_an_address_that_is_silent_is_left_within_the_lease(
    gateway: ScriptedGateway, member: Member
) -> None:
    """A gateway that takes a poll and never answers is left for the next one within the lease."""
    with scripted_gateway() as other:
        running = member(gateway.address, other.address)
        gateway.join(lease_ms=4_000, poll_ms=1_000)
        gateway.poll().news(state="t2", lease_ms=4_000, start=[start(0, 100)])
        gateway.poll()
        taken = other.poll()
        assert taken.body["state"] == "t2"
        assert running.ask("works", 0) == ["works", 0, [1, 7]]


def test_a_token_goes_along_and_may_change(
    gateway: ScriptedGateway, member: Member, tmp_path: Path
) -> None:
    """Each request carries the token of the file as it is then, and the last one if it is gone."""
    file = tmp_path / "token"
    file.write_text("first-token\n", encoding="utf-8")
    member(gateway.address, token_file=str(file))
    asked = gateway.next("/members")
    assert asked.headers["authorization"] == "Bearer first-token"
    file.write_text("second.token==", encoding="utf-8")
    asked.answer(503)
    assert gateway.join().headers["authorization"] == "Bearer second.token=="
    poll = gateway.poll()
    file.unlink()
    poll.news()
    assert gateway.poll().headers["authorization"] == "Bearer second.token=="


@pytest.mark.parametrize("content", [None, "", "two words", "a\nb", "x" * 20_000, "tokén"])
def test_a_file_without_a_token_is_named(
    gateway: ScriptedGateway, member: Member, tmp_path: Path, content: str | None
) -> None:
    """Without a token nothing is asked, and the failure names the file and never its content."""
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    running = member(gateway.address, token_file=str(file))
    _, failure = _failure(running)
    assert str(file) in failure
    assert not content or content not in failure
    assert gateway.asked.empty()
    file.write_text("right", encoding="utf-8")
    assert gateway.join().headers["authorization"] == "Bearer right"


def _failure(running: Probe) -> list[Any]:
    return await_seen(lambda: running.ask("failure"), lambda seen: seen[1], what="a failure")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_passed_on(gateway: ScriptedGateway, member: Member, status: int) -> None:
    """The application hears the gateway's words and remedy; once it is mended, the client joins."""
    running = member(gateway.address)
    gateway.next("/members").answer(status, {"detail": "No right.", "remedy": "Ask for it."})
    _, refusal = await_seen(
        lambda: running.ask("refusal"), lambda seen: seen[1], what="the gateway's refusal"
    )
    assert refusal == f"the gateway answers {status}: No right. Ask for it."
    gateway.join()
    gateway.poll()
    assert running.ask("refusal") == ["refusal", None]


def test_nothing_leads_elsewhere(gateway: ScriptedGateway, member: Member) -> None:
    """A redirection is refused: no token goes where nobody sent it."""
    with scripted_gateway() as other:
        running = member(gateway.address)
        gateway.next("/members").answer(307, None, Location=f"{other.address}/members")
        await_seen(lambda: running.ask("refusal"), lambda seen: seen[1], what="a refusal")
        gateway.join()
        assert other.asked.empty()


def test_it_speaks_tls(
    encrypted: ScriptedGateway, member: Member, certificates: Certificates
) -> None:
    """With the authority that vouches for the gateway, all goes over TLS and one connection."""
    member(encrypted.address, ca_file=str(certificates.authority))
    join = encrypted.join()
    poll = encrypted.poll()
    assert poll.peer == join.peer


def test_it_refuses_a_stranger(
    encrypted: ScriptedGateway, member: Member, certificates: Certificates
) -> None:
    """A gateway for which nobody vouches gets no request."""
    running = member(encrypted.address, ca_file=str(certificates.stranger))
    _, failure = _failure(running)
    assert "SSLHandshakeException" in failure
    assert encrypted.asked.empty()


@pytest.mark.parametrize(
    "setting, given, remedy",
    [
        ("gateway", {"gateways": []}, "https://"),
        ("gateway", {"gateways": ["gateway:80"]}, "http://"),
        ("gateway", {"gateways": ["ftp://x"]}, "http://"),
        ("gateway", {"gateways": ["http://me:secret@x"]}, "tokenFile"),
        ("gateway", {"gateways": ["http://x/?a=b"]}, "path alone"),
        ("gateway", {"gateways": ["http://x"], "token_file": "t"}, "https"),
        ("group", {"group": "a b"}, "1-120 characters"),
        ("clientId", {"client_id": "a b"}, "unique per process"),
        ("topics", {"topics": []}, "at least one"),
        ("topics", {"topics": ["a", "a"]}, "once"),
        ("topics", {"topics": ["a/b"]}, "1-249"),
        ("consumeFrom", {"consume_from": "latest"}, "last_offset"),
        ("consumeTimestampMs", {"consume_timestamp_ms": 5}, 'consumeFrom("timestamp")'),
        ("capacity", {"capacity": 0}, "1 to 1000"),
        ("zone", {"zone": "a b"}, "printable"),
        ("connectTimeoutMs", {"connect_timeout_ms": 0}, "1 or more"),
        ("handOverMs", {"hand_over_ms": -1}, "0 stops at once"),
    ],
)
def test_a_wrong_setting_is_named(
    member: Member, setting: str, given: dict[str, Any], remedy: str
) -> None:
    """A setting that cannot work is refused before anything starts, with its name and a remedy."""
    settings = {"gateways": ["http://127.0.0.1:1"], **given}
    kind, named, message = member(*settings.pop("gateways"), **settings).next()
    assert (kind, named) == ("refused", setting)
    assert message.startswith(f"{setting}: ")
    assert remedy in message
    assert "secret" not in message
