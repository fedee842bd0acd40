"""JSON Web Tokens: whose they are, and the known attacks on them."""

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from fairlead.access.authenticator import Authenticator, Presented
from fairlead.access.json_web_tokens import JwksError, read_jwks
from fairlead.access.principals import Principal
from fairlead.access.refusals import AccessError
from tests.access.access_files import access_settings, principal_text
from tests.kit.awaiting import await_seen

ISSUER = "https://login.example"
AUDIENCE = "fairlead"
ALGORITHMS = {"RS256": "rsa", "PS256": "rsa", "ES256": "ec", "EdDSA": "okp"}


def _private(kind: str) -> Any:
    if kind == "rsa":
        return rsa.generate_private_key(65_537, 2_048)
    if kind == "okp":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP256R1())


KEYS = {kind: _private(kind) for kind in ("rsa", "ec", "okp")}
OTHER = _private("rsa")


def _jwk(kind: str, key: Any, **more: Any) -> dict[str, Any]:
    kinds = {"rsa": jwt.algorithms.RSAAlgorithm, "ec": jwt.algorithms.ECAlgorithm}
    algorithm = kinds.get(kind, jwt.algorithms.OKPAlgorithm)
    found: dict[str, Any] = algorithm.to_jwk(key.public_key(), as_dict=True)  # type: ignore[attr-defined]
    return {**found, "kid": kind, **more}


def _claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "app", "exp": now + 300, "iat": now}
    return {name: value for name, value in {**claims, **changed}.items() if value is not None}


def _token(claims: dict[str, Any], algorithm: str = "RS256", key: Any = None, **header: Any) -> str:
    kind = ALGORITHMS[algorithm]
    return jwt.encode(claims, key or KEYS[kind], algorithm, {"kid": kind, **header})


def _part(document: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


class World:
    """An authenticator with its two files."""

    def __init__(self, folder: Path, **jwt_settings: Any) -> None:
        self.jwks = folder / "jwks.json"
        self.access = folder / "access.toml"
        self.write_keys(*(_jwk(kind, key) for kind, key in KEYS.items()))
        self.access.write_text(
            principal_text("team", 'jwt_subjects = ["app"]', 'consume = ["orders*"]')
        )
        given = {"jwks_file": self.jwks, "issuer": ISSUER, "audience": AUDIENCE, **jwt_settings}
        self.told: list[str] = []
        settings = access_settings(self.access, jwt=given, failures=10_000)
        self.who = Authenticator(settings, told=self.told.append)

    def write_keys(self, *keys: dict[str, Any]) -> None:
        """Write the provider's keys."""
        self.jwks.write_text(json.dumps({"keys": keys}))

    def principal(self, token: str) -> Principal | None:
        """Return whose token it is; None: it is refused."""
        try:
            return self.who.authenticate(Presented("x", token))
        except AccessError:
            return None


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return an authenticator with an access file and keys."""
    return World(tmp_path)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_token_of_the_provider_is_its_subject(world: World, algorithm: str) -> None:
    """A token of the provider is the principal whose subject it names."""
    for _ in range(2):
        team = world.principal(_token(_claims(), algorithm))
        assert team is not None
        assert team.name == "team"
        assert team.may("consume", "orders-1")


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "other"},
        {"aud": ["other", "more"]},
        {"exp": 1_000_000_000},
        {"nbf": 9_999_999_999},
        {"sub": "stranger"},
        *({name: None} for name in ("iss", "aud", "exp", "sub")),
        {"exp": "soon"},
        {"exp": 1e400},
        {"sub": 7},
    ],
    ids=str,
)
def test_wrong_claims_prove_nothing(world: World, claims: dict[str, Any]) -> None:
    """A token of another issuer, audience or time, or without one of these, proves nothing."""
    assert world.principal(_token(_claims(**claims))) is None


def test_a_token_without_a_signature_proves_nothing(world: World) -> None:
    """The algorithm none proves nothing, however it is spelt."""
    for algorithm in ("none", "None", "NONE", ""):
        head = _part({"alg": algorithm, "typ": "JWT", "kid": "rsa"})
        assert world.principal(f"{head}.{_part(_claims())}.") is None


@pytest.mark.parametrize("algorithm", ["HS256", "HS512"])
def test_the_public_key_is_no_secret(world: World, algorithm: str) -> None:
    """A token whose secret is the public key, which everybody has, proves nothing."""
    key = KEYS["rsa"].public_key()
    secrets = [key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)]
    secrets += [each.strip() for each in secrets]
    secrets.append(json.dumps(_jwk("rsa", KEYS["rsa"])).encode())
    for secret in secrets:
        signed = f"{_part({'alg': algorithm, 'kid': 'rsa'})}.{_part(_claims())}"
        hashed = hashlib.sha256 if algorithm == "HS256" else hashlib.sha512
        signature = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), hashed))
        assert world.principal(f"{signed}.{signature.rstrip(b'=').decode()}") is None


def test_the_token_does_not_choose_its_key(world: World) -> None:
    """A key in the token, a key at an address and an unknown key id prove nothing."""
    own = _jwk("rsa", OTHER)
    address = {"jku": "https://evil.example/keys", "x5u": "https://evil.example/keys"}
    for header in ({}, {"jwk": own}, address, {"kid": "unknown"}):
        assert world.principal(_token(_claims(), key=OTHER, **header)) is None
    assert world.principal(_token(_claims(), kid="unknown")) is None
    assert world.principal(_token(_claims(), kid="../../etc/passwd")) is None


def test_odd_heads_prove_nothing(world: World) -> None:
    """A head that no library writes proves nothing, and breaks nothing."""
    _, claims, signature = _token(_claims()).split(".")
    for head in ({"kid": None}, {"kid": ["rsa"]}, {"kid": 7}, {"alg": ["RS256"]}, {"alg": None}):
        token = f"{_part({'alg': 'RS256', 'kid': 'rsa', **head})}.{claims}.{signature}"
        assert world.principal(token) is None
    for text in ("[]", '"x"', "null", "{", ""):
        head_part = base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
        assert world.principal(f"{head_part}.{claims}.{signature}") is None


def test_a_key_of_one_algorithm_serves_no_other(world: World) -> None:
    """A key that names its algorithm serves no other one."""
    world.write_keys(_jwk("rsa", KEYS["rsa"], alg="PS256"), _jwk("ec", KEYS["ec"]))
    await_seen(lambda: world.principal(_token(_claims(), "RS256")) is None, what="the refusal")
    assert world.principal(_token(_claims(), "PS256")) is not None


def test_a_key_serves_its_own_kind_alone(world: World) -> None:
    """A token whose algorithm does not fit its key proves nothing."""
    assert world.principal(_token(_claims(), "ES256", kid="rsa")) is None
    assert world.principal(_token(_claims(), "RS256", kid="ec")) is None


def test_changed_parts_prove_nothing(world: World) -> None:
    """A token whose claims were changed, or parts of it cut, proves nothing."""
    head, claims, signature = _token(_claims(sub="other")).split(".")
    for token in (
        f"{head}.{_part(_claims())}.{signature}",
        f"{head}.{claims}",
        f"{head}..{signature}",
        f"{head}.{claims}.{signature}.x",
        "..",
        "a.b.c",
        "x" * 9_000,
        f"{head}.{claims}.\xff",
    ):
        assert world.principal(token) is None


def test_an_algorithm_that_is_not_allowed_proves_nothing(tmp_path: Path) -> None:
    """Only the algorithms of the settings prove something."""
    world = World(tmp_path, algorithms=("ES256",))
    assert world.principal(_token(_claims(), "RS256")) is None
    assert world.principal(_token(_claims(), "ES256")) is not None


def test_what_must_be_understood_is_refused(world: World) -> None:
    """A token with an extension that one must understand proves nothing."""
    token = jwt.encode(_claims(), KEYS["rsa"], "RS256", {"kid": "rsa", "crit": ["x"], "x": 1})
    assert world.principal(token) is None


def test_a_checked_token_ends(tmp_path: Path) -> None:
    """A token that was right once is refused when it has ended."""
    world = World(tmp_path, leeway_ms=0)
    token = _token(_claims(exp=int(time.time()) + 2))
    assert world.principal(token) is not None
    await_seen(lambda: world.principal(token) is None, what="its end")


def test_a_key_that_is_gone_proves_nothing(world: World) -> None:
    """A key that the provider takes back proves nothing, also for a token that was right."""
    token = _token(_claims())
    assert world.principal(token) is not None
    world.write_keys(_jwk("ec", KEYS["ec"]), _jwk("okp", KEYS["okp"]))
    await_seen(lambda: world.principal(token) is None, what="the refusal")
    world.jwks.write_text("{}")
    await_seen(lambda: world.principal(_token(_claims(), "ES256")) and world.told, what="the word")
    assert world.told == ["jwks"]


def test_rights_may_stand_in_a_claim(tmp_path: Path) -> None:
    """Where the settings name a claim, its rights are those of a subject that no file names."""
    world = World(tmp_path, rights_claim="groups")
    listed = ["consume:orders*", "observe:*", "rule:world", "consume:", "x", 7]
    one = world.principal(_token(_claims(sub="new", groups=listed)))
    assert one is not None
    assert one.name == "jwt:new"
    assert one.rights == {"consume": ("orders*",), "observe": ("*",)}
    text = world.principal(_token(_claims(sub="new", groups="consume:a consume:b")))
    assert text is not None
    assert text.rights == {"consume": ("a", "b")}
    for groups in ([], None, "", {"consume": "*"}, 7, ["*"]):
        assert world.principal(_token(_claims(sub="new", groups=groups))) is None
    named = world.principal(_token(_claims(groups=["operate:*"])))
    assert named is not None
    assert named.name == "team"
    assert not named.may("operate", "x")


@pytest.mark.parametrize(
    "keys, words",
    [
        ([{"kty": "oct", "k": "c2VjcmV0", "kid": "a"}], "is no public key"),
        ([{**_jwk("rsa", OTHER), "d": "AQAB"}], "is no public key"),
        ([_jwk("rsa", OTHER), _jwk("rsa", OTHER)], "no kid of its own"),
        ([{"kty": "RSA", "kid": "a", "n": "x"}], "cannot be used"),
        ([], "has no keys"),
        (["x"], "is no public key"),
    ],
)
def test_keys_that_are_no_public_keys_are_refused(
    tmp_path: Path, keys: list[Any], words: str
) -> None:
    """A shared secret, a private key and keys without names are refused."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": keys}))
    with pytest.raises(JwksError, match=words):
        read_jwks(path)


def test_the_only_key_needs_no_name(tmp_path: Path) -> None:
    """A provider with one key need not name it."""
    world = World(tmp_path)
    key = _jwk("rsa", KEYS["rsa"])
    world.write_keys({name: value for name, value in key.items() if name != "kid"})
    token = jwt.encode(_claims(), KEYS["rsa"], "RS256")
    await_seen(lambda: world.principal(token), what="the principal")


def test_what_a_token_of_the_provider_proved_ends_with_it(tmp_path: Path) -> None:
    """A stream that a JWT opened stands no longer than the JWT and the key that proves it."""
    world = World(tmp_path, leeway_ms=0)
    token = _token(_claims(exp=int(time.time()) + 2))
    lasting = _token(_claims(), "ES256")
    team = world.principal(token)
    assert team is not None
    assert world.who.still_stands(team, token)
    await_seen(lambda: not world.who.still_stands(team, token), what="the end of the token")
    assert world.who.still_stands(team, lasting)
    world.write_keys(_jwk("rsa", KEYS["rsa"]))
    await_seen(lambda: not world.who.still_stands(team, lasting), what="the end of the key")
