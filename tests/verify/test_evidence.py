"""What the judge reads of the topics, record by record."""

import json

import orjson
import pytest

from fairlead.core.model import Epoch
from fairlead.kafka.topic_content import TopicContent
from fairlead.verify.evidence import Grant, grants, progress_reports, source_content
from fairlead.verify.history import ProgressReport
from fairlead.wire.raw import RawRecord
from tests.kit.recorded_history import queue

PROGRESS = {
    "v": 1,
    "kind": "progress",
    "group": "demo",
    "client_id": "c1",
    "incarnation": "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11",
    "queues": [
        {"queue": ["orders", "main", 1], "epoch": [3, 36], "position": [0, 9120]},
        {"queue": ["orders", "main", 2], "epoch": [3, 37], "position": [0, 4]},
    ],
}


def _stored(value: bytes | None, offset: int = 7) -> RawRecord:
    return RawRecord(
        "demo.heartbeats", 3, offset, 1, append_time_is_log=False, key=b"demo", value=value
    )


def test_the_source_has_every_partition() -> None:
    """The content has every partition, those without messages too, and each message's number."""
    records = tuple(
        RawRecord(
            "orders", partition, offset, 1, append_time_is_log=False, key=None, value=b"%d" % number
        )
        for partition, offset, number in [(0, 0, 5), (0, 1, 8), (2, 4, 6)]
    )
    content = source_content(TopicContent("orders", (0, 1, 2), records), "main")
    assert content == {queue(0): {0: 5, 1: 8}, queue(1): {}, queue(2): {4: 6}}


@pytest.mark.parametrize("value", [b"five", b"", None])
def test_a_message_that_is_no_number_has_no_verdict(value: bytes | None) -> None:
    """A message that is no number was not written by the producer: there is no verdict on it."""
    content = TopicContent(
        "orders",
        (0,),
        (RawRecord("orders", 0, 0, 1, append_time_is_log=False, key=None, value=value),),
    )
    with pytest.raises(ValueError, match="invalid literal"):
        source_content(content, "main")


def test_each_entry_of_progress_counts() -> None:
    """Each entry of a progress record of the group counts, with its place in the log."""
    heartbeat = {"kind": "heartbeat", "group": "demo", "client_id": '"progress"'}
    other = {**PROGRESS, "group": "other"}
    records = [_stored(orjson.dumps(r), o) for o, r in enumerate([heartbeat, other, PROGRESS])]
    reports = list(progress_reports([*records, _stored(None)], "demo"))
    source = ("demo.heartbeats", 3)
    assert reports == [
        ProgressReport(source, 2, "c1", queue(1), Epoch(3, 36), 9120),
        ProgressReport(source, 2, "c1", queue(2), Epoch(3, 37), 4),
    ]


@pytest.mark.parametrize("field", ["queues", "client_id", "group"])
def test_unreadable_progress_is_an_error(field: str) -> None:
    """A progress record that cannot be understood is an error: evidence is never skipped."""
    record = {name: value for name, value in PROGRESS.items() if name != field}
    with pytest.raises(ValueError, match="progress record"):
        list(progress_reports([_stored(orjson.dumps(record))], "demo"))


ASSIGNMENT = {
    "v": 1,
    "kind": "assignment",
    "group": "demo",
    "client_id": "c1",
    "drop": [{"queue": ["orders", "main", 3], "epoch": [3, 38]}],
    "add": [{"queue": ["orders", "main", 2], "epoch": [3, 41], "position": [0, 9], "after": []}],
    "assigned": [{"queue": ["orders", "main", 1], "epoch": [3, 36], "state": "held"}],
}


def test_only_adds_of_the_group_are_grants() -> None:
    """Adds to members of the group are grants; drops, whole sets, notices and nulls are not."""
    notice = {"v": 1, "kind": "notice", "group": "demo", "client_id": "c1"}
    other = {**ASSIGNMENT, "group": "other"}
    told = json.loads(json.dumps(ASSIGNMENT))
    told["add"][0]["identity"] = "life-1"
    records = [_stored(orjson.dumps(record)) for record in (notice, other, ASSIGNMENT, told)]
    assert list(grants([*records, _stored(None)], "demo")) == [
        Grant(queue(2), "c1", Epoch(3, 41), None, (0, 9)),
        Grant(queue(2), "c1", Epoch(3, 41), "life-1", (0, 9)),
    ]


def test_an_unreadable_assignment_is_an_error() -> None:
    """An assignment that cannot be understood is an error: evidence is never skipped."""
    record = {name: value for name, value in ASSIGNMENT.items() if name != "add"}
    with pytest.raises(ValueError, match="assignment record"):
        list(grants([_stored(orjson.dumps(record))], "demo"))
