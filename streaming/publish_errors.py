"""Counts failed attempts to publish a batch, although Spark tries again by itself.

If Kafka does not accept a task's records, the task fails and Spark runs it again; after too many
failures the query dies, and this process with it. No report of a batch mentions that. Spark keeps
the error of each task, so the driver reads these errors when a task reports earlier attempts, when
a task fails in a long batch, and when the query has ended. It keeps the counts beside the
checkpoint, so that the next driver shows what killed this one.
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
"""All values of the label."""

_TASKS_MAX: Final = 1_000


def reason_of(text: str) -> str | None:
    """Return why Kafka did not accept a task's records; None if the cause is another one."""
    found = _ERROR.search(text)
    if found is None:
        return None
    return next((reason for reason, word in _REASONS if word.search(found[1])), _OTHER)


class Try(NamedTuple):
    """One attempt to run a task.

    Attributes:
        job: the job's number in the session.
        number: the attempt's number in the session.
        text: its error; empty if it has not failed.
    """

    job: int
    number: int
    text: str


class PublishErrors:
    """The failed attempts to publish, of this driver and of earlier ones."""

    def __init__(self, counter: Counter, store: Path) -> None:
        """Go on counting.

        Args:
            counter: the metric family, with the label reason.
            store: the file that keeps the counts.
        """
        self._counter = counter
        self._store = store
        self._counts = Counts(dict.fromkeys(REASONS, 0)) + Counts(_read(store))
        for reason in REASONS:
            counter.labels(reason).inc(self._counts[reason])
        self._job = -1
        self._counted: set[int] = set()
        self._lock = threading.Lock()

    def update(self, spark: SparkSession, run: str) -> None:
        """Count the failed attempts of all jobs of a run since the last call.

        Any thread may call it, also while a job runs: no attempt counts twice.
        """
        try:
            with self._lock:
                self.count(tuple(_failures(spark, run, self._job)))
        except (Py4JError, OSError) as error:
            log.warning("the errors of failed tasks cannot be read", error=str(error)[:200])

    def count(self, failures: Iterable[Try]) -> None:
        """Count failed attempts; those of an earlier job come first."""
        reasons: Counts[str] = Counts()
        for each in failures:
            if each.job > self._job:
                self._job, self._counted = each.job, set()
            reason = reason_of(each.text)
            if reason is not None and each.number not in self._counted:
                self._counted.add(each.number)
                reasons[reason] += 1
        if not reasons:
            return
        for reason, number in reasons.items():
            self._counter.labels(reason).inc(number)
        self._counts += reasons
        self._store.write_text(json.dumps(self._counts, sort_keys=True), encoding="ascii")
        log.warning("records could not be published; Spark tries the batch again", **reasons)


def _failures(spark: SparkSession, run: str, first_job: int) -> Iterator[Try]:
    """Yield each attempt of the last stage of each job: the stage that writes."""
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
    """Return the kept counts; empty if there is no file or it holds something else."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        kept = json.loads(store.read_text(encoding="ascii"))
        return {reason: int(kept.get(reason, 0)) for reason in REASONS}
    return {}
