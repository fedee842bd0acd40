"""Carries out all checks: each has its time, and none stops another."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OutOfTimeError
from typing import Final, NamedTuple

from kafka.errors import KafkaError

from fairlead.doctor.answer import Answer, Status, fail, unknown
from fairlead.doctor.catalogue import CHECKS, Check, Place
from fairlead.doctor.nodes import named_brokers
from fairlead.doctor.surroundings import Surroundings
from fairlead.errors import FairleadError
from fairlead.kafka.reachability import connection_error

__all__ = ["SECONDS_MAX", "Examined", "examine_all"]

SECONDS_MAX: Final = 14.0
"""After so long no further check is waited for."""
_FIRST_OF_CLUSTER: Final = "broker"


class Examined(NamedTuple):
    """One answer of one check."""

    check: str
    answer: Answer

    def to_json(self) -> dict[str, str]:
        """Return it as a program reads it."""
        return {
            "check": self.check,
            "status": self.answer.status.value,
            "says": self.answer.says,
            "remedy": self.answer.remedy,
        }


def examine_all(
    around: Surroundings, checks: Sequence[Check] = CHECKS, seconds_max: float = SECONDS_MAX
) -> Iterator[Examined]:
    """Yield what each check finds, in the order of the table.

    Those of the machine run side by side; those of the cluster one after another, through one
    connection, and not at all if the first of them finds that no broker answers.
    """
    until = time.monotonic() + seconds_max
    begun = {check.name: _begin(check, around) for check in checks if check.place is Place.MACHINE}
    reached = True
    for check in checks:
        if check.place is Place.MACHINE:
            started = begun[check.name]
            answers = _await(around, check, started, until)
        elif not reached:
            answers = [unknown("the brokers do not answer", f"see: {_FIRST_OF_CLUSTER}")]
        else:
            started = _begin(check, around)
            answers = _await(around, check, started, until)
            if check.name == _FIRST_OF_CLUSTER:
                reached = all(answer.status is not Status.FAIL for answer in answers)
            if not started.answers.done():
                around.renew_cluster()
        yield from (Examined(check.name, answer) for answer in answers)


class _Begun(NamedTuple):
    """A check under way, with the time when it began."""

    since: float
    answers: Future[list[Answer]]


def _begin(check: Check, around: Surroundings) -> _Begun:
    """Start a check on a thread that ends with the process, should it never end by itself."""
    since = time.monotonic()
    future: Future[list[Answer]] = Future()

    def carry_out() -> None:
        try:
            future.set_result(list(check.ask(around)))
        except Exception as error:  # noqa: BLE001 - told as what the check found
            future.set_exception(error)

    threading.Thread(target=carry_out, name=f"doctor-{check.name}", daemon=True).start()
    return _Begun(since, future)


def _await(around: Surroundings, check: Check, begun: _Begun, until: float) -> list[Answer]:
    until = min(begun.since + check.seconds, until)
    try:
        return begun.answers.result(max(0.0, until - time.monotonic()))
    except OutOfTimeError:
        return [_out_of_time(check, time.monotonic() - begun.since)]
    except FairleadError as error:
        return [fail(error.message, error.remedy)]
    except KafkaError as error:
        named = connection_error(around.options)
        if named is not None:
            return [fail(named.message, named.remedy)]
        if around.seen is not None and around.seen.lost:
            lost = named_brokers(each.number for each in around.seen.lost)
            told = f"{lost} gone or silent, and the others did not serve the request"
            return [unknown(f"{told} ({type(error).__name__}: {error})", "see: broker")]
        return [
            fail(
                f"the brokers do not serve the request ({type(error).__name__}: {error})",
                "look at kafka.bootstrap, kafka.security and what this user may do there",
            )
        ]
    except Exception as error:  # noqa: BLE001 - one check that breaks is no reason to end
        return [fail(f"the check itself broke ({type(error).__name__}: {error})", "report it")]


def _out_of_time(check: Check, waited: float) -> Answer:
    # As long as it was waited for, cut off: never more than what all together took.
    says = f"no answer within {int(waited * 10) / 10:g} s"
    remedy = "try again; on a busy machine or a slow network this may be all that is wrong"
    return fail(says, remedy) if check.name == _FIRST_OF_CLUSTER else unknown(says, remedy)
