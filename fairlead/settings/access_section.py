"""Who may call `fairlead serve`, and how its connections are encrypted."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from fairlead.settings.values import Section


class JwtSettings(Section):
    """JSON Web Tokens of your own identity provider, instead of tokens of the access file."""

    jwks_file: (
        Annotated[
            Path,
            Field(
                description="The file with the provider's public keys (a JWKS). Fairlead reads it "
                "again when it changes, and fetches nothing itself. Left out: no JWT is accepted.",
                examples=["/etc/fairlead/jwks.json"],
            ),
        ]
        | None
    ) = None
    issuer: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="The issuer that a token must name (`iss`).",
                examples=["https://login.example.com"],
            ),
        ]
        | None
    ) = None
    audience: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="The audience that a token must name (`aud`).",
                examples=["fairlead"],
            ),
        ]
        | None
    ) = None
    algorithms: Annotated[
        tuple[
            Literal[
                "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"
            ],
            ...,
        ],
        Field(
            min_length=1,
            description="The algorithms that may sign a token. All are asymmetric: whoever can "
            "check a token cannot make one.",
        ),
    ]
    leeway_ms: Annotated[
        int,
        Field(
            ge=0,
            le=300_000,
            description="How far the provider's clock may be apart from this one.",
        ),
    ]
    rights_claim: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="The claim with the rights of a subject that the access file does not "
                "name: a list of texts such as consume:orders*. Left out: such a subject is "
                "refused.",
                examples=["fairlead"],
            ),
        ]
        | None
    ) = None


class LimitSettings(Section):
    """Limits of each principal, unless its own table in the access file has others."""

    requests_per_second: Annotated[
        int,
        Field(
            ge=0,
            le=100_000,
            description="The most requests per second of a principal; one more gets 429. A client "
            "with a poll of 3 s needs less than one. 0: no limit.",
        ),
    ]
    requests_at_once: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            description="The most requests that may come at once after a quiet time.",
        ),
    ]
    sessions: Annotated[
        int,
        Field(ge=0, le=100_000, description="The most open sessions of a principal. 0: no limit."),
    ]
    streams: Annotated[
        int,
        Field(
            ge=0,
            le=10_000,
            description="The most open streams of events of a principal. 0: no limit.",
        ),
    ]


class AccessSettings(Section):
    """Who may call `fairlead serve`; docs/serve.md explains it.

    Off loopback nothing is served without it.
    """

    file: (
        Annotated[
            Path,
            Field(
                description="The access file: principals, their rights, and their tokens as "
                "hashes. `fairlead token new` writes it. Fairlead reads it again when it changes. "
                "Left out, and no JWT either: on loopback every caller may do everything.",
                examples=["/etc/fairlead/access.toml"],
            ),
        ]
        | None
    ) = None
    open_metrics: Annotated[
        bool,
        Field(
            description="Whether `/metrics` needs no login. It names groups and topics. If false, "
            'a scrape needs the right to observe every group: observe = ["*"].'
        ),
    ]
    failures: Annotated[
        int,
        Field(
            ge=1,
            le=10_000,
            description="After so many failed logins from one address within "
            "failure_window_ms, the address gets 429 until the window has passed. Credentials "
            "that it has used with success go on.",
        ),
    ]
    failure_window_ms: Annotated[
        int,
        Field(ge=1_000, le=3_600_000, description="How long a failed login counts."),
    ]
    jwt: JwtSettings
    limits: LimitSettings


class TlsSettings(Section):
    """Encryption of `fairlead serve`: without certfile it speaks plain HTTP.

    The files are read again when they change, for new connections.
    """

    certfile: (
        Annotated[
            Path,
            Field(
                description="The PEM file of the server's certificate and of those between it and "
                "its authority.",
                examples=["/etc/fairlead/server.pem"],
            ),
        ]
        | None
    ) = None
    keyfile: (
        Annotated[
            Path,
            Field(
                description="The PEM file of the certificate's key, without a password.",
                examples=["/etc/fairlead/server-key.pem"],
            ),
        ]
        | None
    ) = None
    client_cafile: (
        Annotated[
            Path,
            Field(
                description="The PEM file of the authorities that Fairlead trusts for callers: it "
                "asks them for a certificate, and the access file says who that is.",
                examples=["/etc/fairlead/client-ca.pem"],
            ),
        ]
        | None
    ) = None
    client_certificate_required: Annotated[
        bool,
        Field(
            description="Whether a caller without a certificate is refused at once, before its "
            "request; probes of health need one then too."
        ),
    ]
