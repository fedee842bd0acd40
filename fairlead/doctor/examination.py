"""Runs all checks: each has its time limit, and none stops another."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OutOfTimeError
from typing import Final, NamedTuple

from kafka.errors import KafkaError

from fairlead.doctor.answer import Answer, Status, fail, unknown
from fairlead.doctor.catalogue import CHECKS, Check, Scope
from fairlead.doctor.context import CheckContext
from fairlead.doctor.nodes import named_brokers
from fairlead.errors import FairleadError
from fairlead.kafka.reachability import connection_error

__all__ = ["SECONDS_MAX", "Examined", "examine_all"]

SECONDS_MAX: Final = 14.0
"""The limit for all checks together."""
_FIRST_OF_CLUSTER: Final = "broker"


class Examined(NamedTuple):
    """One answer of one check."""

    check: str
    answer: Answer

    def to_json(self) -> dict[str, str]:
        """Return the answer as JSON."""
        return {
            "check": self.check,
            "status": self.answer.status.value,
            "says": self.answer.says,
            "remedy": self.answer.remedy,
        }


def examine_all(
    context: CheckContext, checks: Sequence[Check] = CHECKS, seconds_max: float = SECONDS_MAX
) -> Iterator[Examined]:
    """Yield the answers of each check, in the order of the table.

    Checks of the machine run side by side. Checks of the cluster run one after another, through one
    connection, and not at all if the first of them finds that no broker answers.
    """
    until = time.monotonic() + seconds_max
    begun = {check.name: _begin(check, context) for check in checks if check.scope is Scope.MACHINE}
    reached = True
    for check in checks:
        if check.scope is Scope.MACHINE:
            started = begun[check.name]
            answers = _await(context, check, started, until)
        elif not reached:
            answers = [unknown("the brokers do not answer", f"see: {_FIRST_OF_CLUSTER}")]
        else:
            started = _begin(check, context)
            answers = _await(context, check, started, until)
            if check.name == _FIRST_OF_CLUSTER:
                reached = all(answer.status is not Status.FAIL for answer in answers)
            if not started.answers.done():
                context.renew_cluster()
        yield from (Examined(check.name, answer) for answer in answers)


class _Begun(NamedTuple):
    """A check under way, with the time when it began."""

    since: float
    answers: Future[list[Answer]]


def _begin(check: Check, context: CheckContext) -> _Begun:
    """Start a check on a daemon thread, so that a stuck check cannot hold up the process."""
    since = time.monotonic()
    future: Future[list[Answer]] = Future()

    def carry_out() -> None:
        try:
            future.set_result(list(check.ask(context)))
        except Exception as error:  # noqa: BLE001 - reported as the check's answer
            future.set_exception(error)

    threading.Thread(target=carry_out, name=f"doctor-{check.name}", daemon=True).start()
    return _Begun(since, future)


def _await(context: CheckContext, check: Check, begun: _Begun, until: float) -> list[Answer]:
    until = min(begun.since + check.seconds, until)
    try:
        return begun.answers.result(max(0.0, until - time.monotonic()))
    except OutOfTimeError:
        return [_out_of_time(check, time.monotonic() - begun.since)]
    except FairleadError as error:
        return [fail(error.message, error.remedy)]
    except KafkaError as error:
        named = connection_error(context.options)
        if named is not None:
            return [fail(named.message, named.remedy)]
        if context.seen is not None and context.seen.lost:
            lost = named_brokers(node.number for node in context.seen.lost)
            says = f"{lost} gone or silent, and the others did not serve the request"
            return [unknown(f"{says} ({type(error).__name__}: {error})", "see: broker")]
        return [
            fail(
                f"the brokers do not serve the request ({type(error).__name__}: {error})",
                "check kafka.bootstrap, kafka.security and this user's rights there",
            )
        ]
    except Exception as error:  # noqa: BLE001 - one broken check must not stop the others
        return [fail(f"the check itself broke ({type(error).__name__}: {error})", "report it")]


def _out_of_time(check: Check, waited: float) -> Answer:
    # Rounded down, so that it is never more than all checks together took.
    says = f"no answer within {int(waited * 10) / 10:g} s"
    remedy = "try again; a busy machine or a slow network may be the only cause"
    return fail(says, remedy) if check.name == _FIRST_OF_CLUSTER else unknown(says, remedy)
