"""The end of a member's thread: every step is done, whatever happens in the others."""

import logging
from collections.abc import Callable, Iterable
from threading import Event
from typing import Final, Protocol

from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.session.session import Ownership
from fairlead_client.session.waiting_log import Waiting

__all__ = ["NOTHING", "end_control"]

NOTHING: Final = Ownership(0, {})
"""What a member owns that has no lease."""

logger = logging.getLogger(__name__)


class Controlled(Protocol):
    """What shows a member to the threads of its application; `ControlThread` explains it."""

    ownership: Ownership
    waiting_for: Waiting | None
    ended: Event
    joined: Event


def end_control(
    control: Controlled,
    application: Application,
    observer: Observer,
    closing: Iterable[Callable[[], None]],
    failed: Callable[[Exception], None],
) -> None:
    """Stop all work, then close the connections.

    Args:
        control: whose end it is.
        application: stops its work.
        observer: hears that nothing is owned any more.
        closing: the steps that close the connections.
        failed: hears of each error.
    """
    owned = control.ownership
    control.ownership = NOTHING
    control.waiting_for = None
    try:
        for step in (
            lambda: observer.owned(0),
            lambda: application.stop_everything(owned.epochs.items()),
            application.closed,
            *closing,
        ):
            _try(step, failed)
    finally:
        # The thread that closes the client waits for this without a limit.
        control.ended.set()
        control.joined.set()


def _try(step: Callable[[], None], failed: Callable[[Exception], None]) -> None:
    """Do one step of the end; an error must not stop the other steps."""
    try:
        step()
    except Exception as error:
        logger.exception("a step at the end of the session's thread failed")
        failed(error)
