"""Lines without secrets, without control characters, and not again and again."""

import json

import pytest
import structlog

from fairlead.logs import RateLimit, Secrets, escape_ids

PASSWORD = "hunter2-$€"  # noqa: S105 - made up


@pytest.mark.parametrize(
    "text",
    [
        f"cannot authenticate with {PASSWORD}: refused",
        f"{PASSWORD}{PASSWORD}",
        'login required username="fairlead" password="made-up";',
        "sasl_plain_password='made-up'",
        '{"sasl_plain_password": "made-up", "group": "orders"}',
        "ssl.keystore.password=made-up, other",
    ],
)
def test_a_known_secret_is_masked_everywhere(text: str) -> None:
    """A known secret goes wherever it stands, and one under its name though nobody knows it."""
    found = Secrets([PASSWORD])(None, "info", {"event": text, "error": [{"deep": text}]})
    for word in (PASSWORD, "made-up"):
        assert word not in str(found)
    assert "***" in found["event"]


UNKNOWN = "hunter22"


@pytest.mark.parametrize(
    "value",
    [
        {"sasl_plain_password": UNKNOWN, "ssl": 1},
        {"deep": [{"token": UNKNOWN}]},
        [["sasl_plain_password", UNKNOWN], ("ssl", True)],
        [("api_key", UNKNOWN)],
        ["fairlead", "serve", "--password", UNKNOWN],
        f"kafka://bob:{UNKNOWN}@h:9092",
        f"amqp://bob:{UNKNOWN}@x@h/a",
        f"fairlead serve --password {UNKNOWN} --port 1",
        f"--sasl-password '{UNKNOWN} more'",
        f"('sasl_plain_password', '{UNKNOWN}')",
        repr({"password": UNKNOWN + "'\"\\" + UNKNOWN}),
        repr({"password": UNKNOWN.encode()}),
        f"ssl.key.passphrase={UNKNOWN}",
    ],
)
def test_a_secret_behind_its_name_is_masked(value: object) -> None:
    """A secret that stands behind its name goes, in whatever form name and value come."""
    found = Secrets()(None, "info", {"event": "x", "options": value})
    assert UNKNOWN not in str(found)
    assert "***" in str(found)


@pytest.mark.parametrize(
    "value",
    [
        ["orders", "--password-file", "/run/secrets/kafka"],
        {"password_file": "/run/secrets/kafka"},
        "http://127.0.0.1:9465/readyz and kafka://b:9092",
        "--password-file /run/secrets/kafka",
        ["the token is old", "renew it"],
        [],
        ["password", "topic", "group"],
    ],
)
def test_a_name_of_a_file_is_not_masked(value: object) -> None:
    """The name of a file, an address and a sentence stay as they are."""
    assert Secrets()(None, "info", {"options": value}) == {"options": value}


@pytest.mark.parametrize("secret", ['s3cr3t"x\\y', "s3cr3t'x\\y", "s3'cr\"3t\\", "s3crét\n\tx"])
def test_a_secret_is_masked_in_written_forms_too(secret: str) -> None:
    """A known secret goes also where repr or JSON have written it into a text."""
    for written in (
        secret,
        repr(secret),
        repr({"a": secret}),
        repr([secret, '"', "'"]),
        repr(f"{secret} and '\""),
        json.dumps(secret),
        json.dumps({"error": repr(secret)}),
        json.dumps(json.dumps([secret], ensure_ascii=False)),
    ):
        masked = Secrets([secret]).mask(f"error: {written}")
        assert "s3" not in masked, written
        assert "***" in masked


def test_a_field_named_as_a_secret_is_masked() -> None:
    """A field that is named as a secret is masked, whatever it holds; the name of a file is not."""
    fields = {
        "sasl_plain_password": ["x"],
        "token": 7,
        "password_file": "/run/secrets/kafka",
        "passed": 3,
        "group": "secrets-of-the-desert",
    }
    assert Secrets()(None, "info", fields) == {
        **fields,
        "sasl_plain_password": "***",
        "token": "***",
    }


def test_a_short_secret_masks_nothing() -> None:
    """What is so short that it stands in any text masks nothing."""
    assert Secrets(["", "ab"]).mask("abandon") == "abandon"


@pytest.mark.parametrize(
    "client_id, written",
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        (
            "a\n2026-11-23T00:00:00Z [error    ] forged",
            r"a\n2026-11-23T00:00:00Z [error    ] forged",
        ),
        ("a\r\tb\x00\x7f\x9b", r"a\r\tb\x00\x7f\x9b"),
        ("\u202egnitrever\u2028", r"\u202egnitrever\u2028"),
        ("ordinary-1@10.0.0.7", "ordinary-1@10.0.0.7"),
        ("schlüssel 消费组", "schlüssel 消费组"),
    ],
)
def test_an_id_cannot_steer_a_terminal(client_id: str, written: str) -> None:
    """An id cannot steer a terminal nor begin a line; letters of all scripts stay."""
    fields = {"event": client_id, "client": client_id, "more": [{client_id: (client_id,)}]}
    found = escape_ids(None, "info", fields)
    assert found == {"event": written, "client": written, "more": [{written: [written]}]}


def test_a_traceback_cannot_pass_for_a_line_of_the_log() -> None:
    """A traceback keeps its lines, and none of them can pass for a line of the log."""
    text = "Traceback\nValueError: \x1b[2J\n2026-11-23T00:00:00Z [info     ] forged"
    found = escape_ids(None, "error", {"traceback": text})["traceback"]
    assert found.split("\n") == [
        "  | Traceback",
        r"  | ValueError: \x1b[2J",
        "  | 2026-11-23T00:00:00Z [info     ] forged",
    ]


def test_a_repeated_line_comes_once_a_minute() -> None:
    """The same line comes once a minute, and says how many were left out; others pass."""
    now = [0.0]
    limit = RateLimit({"failed": ("group",)}, 60, clock=lambda: now[0])

    def left_out(event: str, group: str) -> object:
        try:
            return limit(None, "error", {"event": event, "group": group}).get("left_out", 0)
        except structlog.DropEvent:
            return "not written"

    assert left_out("failed", "orders") == 0
    for _ in range(3):
        now[0] += 10
        assert left_out("failed", "orders") == "not written"
    assert left_out("failed", "payments") == 0
    now[0] += 31
    assert left_out("failed", "orders") == 3
    assert [left_out("other", "orders") for _ in range(2)] == [0, 0]
