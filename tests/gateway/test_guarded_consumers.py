"""Python consumers at a gateway behind encryption and an access file: who gets in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fairlead_client import Client, GatewayError, StartFailedError

from tests.access.access_files import made_token, principal_text
from tests.access.certificates import Authority
from tests.kit.gateway_server import gateway_serving

MINE, OTHERS = made_token(), made_token()


class Guarded(NamedTuple):
    """A gateway that knows two principals, and its CA."""

    place: dict[str, Any]
    authority: Path

    def client(self, token: str | None, **settings: Any) -> Client:
        """Return a client of the group orders-1 with a token."""
        given = {
            **self.place,
            "gateway_ca_file": str(self.authority),
            "group": "orders-1",
            "topics": ["orders"],
            "token": token,
            "commit_offsets": False,
            "start_timeout_ms": 20_000,
            **settings,
        }
        return Client(
            on_assigned=lambda _queue, _offset: None, on_revoked=lambda _queue: None, **given
        )


@pytest.fixture
def guarded(bootstrap: str, topics: object, topic_prefix: str, tmp_path: Path) -> Iterator[Guarded]:
    """A gateway over topics of the test's own."""
    del topics
    authority = Authority(tmp_path)
    pair = authority.server()
    access = tmp_path / "access.toml"
    access.write_text(
        principal_text("mine", 'consume = ["orders*"]', token=MINE[1])
        + principal_text("others", 'consume = ["billing"]', token=OTHERS[1])
    )
    with gateway_serving(
        bootstrap,
        topic_prefix,
        access__file=str(access),
        tls__certfile=str(pair.certificate),
        tls__keyfile=str(pair.key),
    ) as url:
        yield Guarded({"bootstrap": bootstrap, "gateway": url}, authority.file)


def _refusal(client: Client) -> GatewayError:
    with pytest.raises(StartFailedError) as raised:
        client.start()
    cause = raised.value.__cause__
    assert isinstance(cause, GatewayError)
    return cause


def test_who_gets_in(guarded: Guarded, tmp_path: Path) -> None:
    """A token with the right joins; another, none and an unknown CA are refused with the cause."""
    file = tmp_path / "token"
    file.write_text(f"{MINE[0]}\n")
    with guarded.client(None, token_file=str(file)) as client:
        assert client.state == "running"
    quick = {"start_timeout_ms": 2_000}
    lacking = _refusal(guarded.client(OTHERS[0], **quick))
    assert (lacking.status, lacking.kind) == (403, "missing_right")
    assert "consume" in str(lacking)
    unknown = _refusal(guarded.client("flt_none_" + "x" * 43, **quick))
    assert unknown.status == 401
    nobody = _refusal(guarded.client(None, **quick))
    assert (nobody.status, nobody.kind) == (401, "no_credentials")
    distrusted = _refusal(guarded.client(MINE[0], gateway_ca_file=None, **quick))
    assert distrusted.kind == "bad_certificate"
    assert "gateway_ca_file" in str(distrusted)
    for refusal in (lacking, unknown, nobody, distrusted):
        assert "flt_" not in str(refusal)
