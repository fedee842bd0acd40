"""The log of a process: its own lines and those of libraries, in one form."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import structlog
from kafka.errors import Cancelled

from fairlead.logs import configure_logs, log_form, logs_configured

PASSWORD = "hunter2-made-up"  # noqa: S105 - made up


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the log of the test's process as it was."""
    with logs_configured("json"):
        yield


def _provoked(stream: io.StringIO, form: str) -> str:
    """Log what goes wrong, by ourselves and by two libraries, with a secret in each."""
    configure_logs(form, secrets=[PASSWORD], stream=stream)
    own = structlog.get_logger()
    with structlog.contextvars.bound_contextvars(batch=7):
        own.warning("trouble", group="orders", error=f"refused {PASSWORD}")
        try:
            int(f"bad\n{PASSWORD} \x1b[2J")
        except ValueError:
            own.exception("failed", sasl_plain_password=PASSWORD)
    logging.getLogger("kafka.net").error("cannot log in with %s", PASSWORD)
    logging.getLogger("kafka.net").warning("slow")
    try:
        Path(PASSWORD).read_text(encoding="ascii")
    except OSError:
        logging.getLogger("py4j").exception("gone\nforged")
    # Connections that other tests left open may say something meanwhile.
    lines = stream.getvalue().splitlines(keepends=True)
    return "".join(line for line in lines if "kafka.cluster" not in line)


def test_a_refresh_that_a_close_cut_off() -> None:
    """Of kafka-python's failed look-ups those are left out that somebody cancelled."""
    stream = io.StringIO()
    configure_logs("json", stream=stream)
    library = logging.getLogger("kafka.cluster")
    library.error("Metadata refresh: failed %s", Cancelled())
    library.error("Metadata refresh: failed %s", ConnectionError("refused"))
    library.error("no arguments")
    events = [orjson.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert "Metadata refresh: failed Cancelled" not in events
    assert {"Metadata refresh: failed refused", "no arguments"} <= {*events}


def test_each_line_is_a_document_without_secrets() -> None:
    """Each line is one document, of a library too; no secret is in any."""
    text = _provoked(io.StringIO(), "json")
    lines = [orjson.loads(line) for line in text.splitlines()]
    assert [(line["level"], line["event"]) for line in lines] == [
        ("warning", "trouble"),
        ("error", "failed"),
        ("error", "cannot log in with ***"),
        ("error", "gone\\nforged"),
    ]
    assert [line.get("batch") for line in lines] == [7, 7, None, None]
    assert [line.get("logger") for line in lines] == [None, None, "kafka.net", "py4j"]
    assert all(line["timestamp"].endswith("Z") for line in lines)
    assert "No such file or directory: '***'" in lines[3]["exception"]
    assert PASSWORD not in text
    assert lines[1]["sasl_plain_password"].strip("*") == ""


def test_an_event_is_one_line_on_a_terminal() -> None:
    """The same for people: an event is one line, a traceback is set off, nothing steers."""
    text = _provoked(io.StringIO(), "console")
    assert PASSWORD not in text
    assert "\x1b" not in text
    events = [line for line in text.splitlines() if not line.startswith("  | ")]
    assert [line.split("]")[1].split("  ")[0].strip() for line in events] == [
        "trouble",
        "failed",
        "cannot log in with ***",
        "gone\\nforged",
    ]


def test_a_log_that_is_no_terminal_is_json() -> None:
    """What is not a terminal is read by programs, unless somebody says otherwise."""
    assert log_form("auto", io.StringIO()) == "json"
    assert log_form("auto", Terminal()) == "console"
    assert log_form("console", io.StringIO()) == "console"
    with pytest.raises(ValueError, match="'xml'"):
        log_form("xml")


def test_after_the_context_the_process_logs_as_before() -> None:
    """After the context the process logs where it did."""
    before, root = structlog.get_config(), list(logging.getLogger().handlers)
    with logs_configured("json"):
        assert structlog.get_config() is not before
    assert structlog.get_config()["processors"] == before["processors"]
    assert logging.getLogger().handlers == root
