"""The last line of a run: why it ended, with which code, and what it had done."""

from contextlib import nullcontext

import pytest
from structlog.testing import capture_logs

from fairlead.errors import ExitCode, QueryDiedError
from streaming.health import Health
from streaming.last_line import LastLine


def _ended(error: BaseException | None, *asked_by: str) -> dict[str, object]:
    """Return the line of a run of 90 s and two batches that ends so."""
    now = 100.0
    health = Health()
    line = LastLine(health, clock=lambda: now)
    with capture_logs() as lines:
        ends = nullcontext() if error is None else pytest.raises(type(error))
        with ends, line.written():
            health.claimed(3, lambda: None)
            health.committed()
            health.committed()
            for who in asked_by:
                line.asked_by(who)
            now += 90
            if error is not None:
                raise error
    (found,) = lines
    assert found["event"] == "engine ended"
    assert (found["uptime_seconds"], found["generation"], found["batches"]) == (90, 3, 2)
    return dict(found)


def test_a_stop_that_was_asked_for_names_who_did() -> None:
    """A stop that somebody asked for names who did first, and is no error."""
    line = _ended(None, "SIGTERM", "SIGINT")
    assert (line["why"], line["exit_code"], line["log_level"]) == ("SIGTERM", ExitCode.OK, "info")


@pytest.mark.parametrize(
    "error, why, code",
    [
        (QueryDiedError("the JVM is gone.", remedy="x"), "the JVM is gone.", ExitCode.QUERY_DIED),
        (ValueError("odd"), "ValueError('odd')", ExitCode.DEFECT),
        (KeyboardInterrupt(), "KeyboardInterrupt()", ExitCode.INTERRUPTED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_is_logged_with_its_exit_code(
    error: BaseException, why: str, code: ExitCode
) -> None:
    """An error is passed on, and the line has its words and its exit code."""
    line = _ended(error)
    assert (line["why"], line["exit_code"], line["log_level"]) == (why, code, "error")
