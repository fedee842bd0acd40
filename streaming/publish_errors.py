"""Counts what went wrong when a batch was to be published, although Spark tries again by itself.

A task whose records Kafka does not take fails, and Spark runs it again; when it has failed too
often the query dies, and this process with it. Neither is in any report of a batch. Spark keeps
what each task failed with, so that is looked up when a task says that it is not run for the first
time, when one fails in a batch that takes long, and when the query has ended. The counts are kept
beside the checkpoint: what killed this driver is shown by the next one.
"""

import contextlib
import json
import re
import threading
from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog
from prometheus_client import Counter
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

log = structlog.get_logger()

_ERROR: Final = re.compile(r"\borg\.apache\.kafka\.(?:\w+\.)+(\w+?)(?:Exception|Error)\b")
_REASONS: Final = (
    ("timeout", re.compile(r"Timeout")),
    ("too_large", re.compile(r"TooLarge")),
    ("too_few_replicas", re.compile(r"NotEnoughReplicas")),
    ("not_allowed", re.compile(r"Authorization|Authentication")),
)
_OTHER: Final = "other"
REASONS: Final = (*(reason for reason, _ in _REASONS), _OTHER)
"""Every value of the label."""

_TASKS_MAX: Final = 1_000


def reason_of(text: str) -> str | None:
    """Return why Kafka did not take a task's records; None: the task failed of something else."""
    found = _ERROR.search(text)
    if found is None:
        return None
    return next((reason for reason, word in _REASONS if word.search(found[1])), _OTHER)


class Try(NamedTuple):
    """One try of a task.

    Attributes:
        job: its number in the session.
        number: of the try, among all of the session.
        text: what it failed with; empty: it has not failed.
    """

    job: int
    number: int
    text: str


class PublishErrors:
    """The tries to publish that failed, of this driver and of those before it."""

    def __init__(self, counter: Counter, store: Path) -> None:
        """Go on counting.

        Args:
            counter: the family, with the label reason.
            store: a file that keeps the counts.
        """
        self._counter = counter
        self._store = store
        self._counts = Counts(dict.fromkeys(REASONS, 0)) + Counts(_read(store))
        for reason in REASONS:
            counter.labels(reason).inc(self._counts[reason])
        self._job = -1
        self._counted: set[int] = set()
        self._lock = threading.Lock()

    def look(self, spark: SparkSession, run: str) -> None:
        """Count the failed tries of every job of a run of the query since the last look.

        A job may still run, and may be looked at again by any thread: no try counts twice.
        """
        try:
            with self._lock:
                self.count(tuple(_failures(spark, run, self._job)))
        except (Py4JError, OSError) as error:
            log.warning("what tasks failed with could not be looked up", error=str(error)[:200])

    def count(self, failures: Iterable[Try]) -> None:
        """Count tries that failed, those of a later job after those of an earlier one."""
        found: Counts[str] = Counts()
        for each in failures:
            if each.job > self._job:
                self._job, self._counted = each.job, set()
            reason = reason_of(each.text)
            if reason is not None and each.number not in self._counted:
                self._counted.add(each.number)
                found[reason] += 1
        if not found:
            return
        for reason, number in found.items():
            self._counter.labels(reason).inc(number)
        self._counts += found
        self._store.write_text(json.dumps(self._counts, sort_keys=True), encoding="ascii")
        log.warning("records could not be published, the batch is tried again", **found)


def _failures(spark: SparkSession, run: str, first_job: int) -> Iterator[Try]:
    """Yield each try of the last stage of each job: the one that writes."""
    tracker = spark.sparkContext.statusTracker()
    store: Any = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - the one place where Spark keeps errors of tasks
    for job in sorted(tracker.getJobIdsForGroup(run)):
        info = tracker.getJobInfo(job) if job >= first_job else None
        if info is None:
            continue
        stage = max(info.stageIds)
        tasks = store.taskList(stage, 0, _TASKS_MAX)
        for index in range(tasks.size()):
            task = tasks.apply(index)
            text = task.errorMessage()
            yield Try(job, task.taskId(), text.get() if text.isDefined() else "")


def _read(store: Path) -> Mapping[str, int]:
    """Return what is kept; nothing, if there is no file or it holds something else."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        kept = json.loads(store.read_text(encoding="ascii"))
        return {reason: int(kept.get(reason, 0)) for reason in REASONS}
    return {}
