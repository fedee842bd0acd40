"""The end of a session's thread, whatever the application's side does in it."""

from collections.abc import Iterable
from threading import enumerate as running
from time import monotonic
from typing import Any

import pytest
from fairlead_client import PushConsumer, StartFailedError
from fairlead_client.consume.member import Member
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.application import Application
from fairlead_client.session.clock import wall_ms
from fairlead_client.settings.client_settings import Settings

WAIT = 20.0


class Failing:
    """An application that cannot end what it has begun."""

    def __init__(self) -> None:
        self.was_told = False

    def start_work(self, *_: Any) -> None:
        """Nothing is granted here."""

    stop_work = abandon_work = start_work

    def collect_progress(self) -> list[Any]:
        """Nothing is consumed here."""
        return []

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Fail."""
        raise OSError(f"{list(work)} does not stop")

    def closed(self) -> None:
        """Fail."""
        self.was_told = True
        raise OSError("does not close")


class FailingMember(Member):
    """A member with such an application."""

    failing = Failing()

    def _application(self) -> Application:
        return self.failing


def test_an_application_that_cannot_end(caplog: pytest.LogCaptureFixture) -> None:
    """What the application raises at the end is logged and stops nothing; nobody waits for ever."""
    settings = Settings(
        bootstrap="127.0.0.1:1", group="orders", topics=["orders"], lease_ms=2_000, heartbeat_ms=500
    )
    before = set(running())
    thread = FailingMember(settings)._new_thread()  # noqa: SLF001 - without waiting for a broker
    thread.start()
    thread.abort()
    assert thread.ended.wait(WAIT)
    assert thread.joined.is_set()
    assert FailingMember.failing.was_told
    raised = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert raised == ["[] does not stop", "does not close"]
    deadline = monotonic() + WAIT
    for left in set(running()) - before:
        left.join(max(0.0, deadline - monotonic()))
        assert not left.is_alive(), left.name


def test_when_the_last_error_came() -> None:
    """A member keeps its last error and when it came."""
    settings = Settings(bootstrap="127.0.0.1:1", group="orders", topics=["o"], start_timeout_ms=100)
    member = FailingMember(settings)
    assert (member.last_error, member.last_error_ms) == (None, None)
    began_ms = wall_ms()
    with pytest.raises(StartFailedError):
        member.start()
    assert isinstance(member.last_error, StartFailedError)
    assert member.last_error_ms is not None
    assert began_ms <= member.last_error_ms <= wall_ms()


def test_when_the_last_error_of_pulling_came() -> None:
    """A consumer keeps its last failed pull with its time, and each further one with its own."""
    given: Any = {"bootstrap": "b:1", "group": "orders", "topics": ["o"]}
    consumer = PushConsumer(**given, listener=lambda _messages, _context: None)
    for failure in (OSError("late"), OSError("later")):
        began_ms = wall_ms()
        consumer._pull_failed(failure)  # noqa: SLF001 - without waiting for a broker
        assert consumer.last_error is failure
        assert consumer.last_error_ms is not None
        assert began_ms <= consumer.last_error_ms <= wall_ms()
