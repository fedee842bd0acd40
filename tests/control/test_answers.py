"""What is an answer to a rule: decisions and rejects that name its record, and nothing else."""

from typing import Any

import orjson

from fairlead.control.engine_answers import AnswerWatch, ControlPlace, EngineAnswers
from fairlead.settings import Settings
from tests.kit.kafka_log import Log
from tests.kit.wire_records import example

PLACE, OTHER = ControlPlace(2, 7), ControlPlace(2, 8)


def _decide(log: Log, *offsets: int, group: str = "orders", read: int = 0, **changes: Any) -> None:
    """Append a decision with these control records as causes, which has read so far."""
    control = log.names.name("control")
    causes = [
        {"kind": "rules_changed", "rule": "slots", "at": [control, 2, number]} for number in offsets
    ]
    cut = example("decision")["cut"] | {"positions": {control: {"2": read}}}
    body = example("decision", group=group, cause=causes, cut=cut) | changes
    log.append("decisions", orjson.dumps(body), group.encode())


def _reject(log: Log, topic: str, offset: int) -> None:
    body = example("reject", at=[log.names.name(topic), 2, offset], reason="bad_rule")
    log.append("rejects", orjson.dumps(body), b"orders")


def _wait(watch: AnswerWatch, *places: ControlPlace, seconds: float = 2) -> EngineAnswers:
    return watch.wait(places, seconds)


def test_the_first_decision_that_names_the_record_answers_it(settings: Settings, log: Log) -> None:
    """The first decision of each group that names the record is its answer."""
    _decide(log, PLACE.offset, group="before")
    with AnswerWatch(settings.kafka, [2]) as watch:
        _decide(log, OTHER.offset)
        _decide(log, PLACE.offset, phase="x")
        _decide(log, PLACE.offset)
        _decide(log, PLACE.offset, group="payments", alarms=["rule_without_effect"])
        _decide(log, 99)
        answers = _wait(watch, PLACE, ControlPlace(2, 99))
    assert [each.group for each in answers.decisions[PLACE]] == ["orders", "payments"]
    assert answers.decisions[PLACE][1].alarms == ("rule_without_effect",)
    assert OTHER not in answers.decisions
    assert answers.refusals == {}


def test_a_decision_answers_when_all_parts_are_there(settings: Settings, log: Log) -> None:
    """A decision is an answer when all of its parts are there, whichever names the record."""
    with AnswerWatch(settings.kafka, [2]) as watch:
        _decide(log, OTHER.offset, part=0, parts=2)
        assert not _wait(watch, OTHER, seconds=0.5).has(OTHER)
        _decide(log, PLACE.offset, part=1, parts=2)
        answers = _wait(watch, PLACE, OTHER)
    assert answers.has(PLACE)
    assert answers.has(OTHER)


def test_a_reject_of_the_record_answers_it(settings: Settings, log: Log) -> None:
    """A reject of the record is an answer; one of another topic's record is none."""
    with AnswerWatch(settings.kafka, [2]) as watch:
        _reject(log, "heartbeats", PLACE.offset)
        _reject(log, "control", OTHER.offset)
        answers = _wait(watch, OTHER)
    assert set(answers.refusals) == {OTHER}
    assert answers.refusals[OTHER].reason == "bad_rule"
    assert answers.refusals[OTHER].remedy


def test_what_cannot_be_read_answers_nothing(settings: Settings, log: Log) -> None:
    """What cannot be read answers nothing, and does not end the watch."""
    with AnswerWatch(settings.kafka, [2]) as watch:
        for value in (b"\xff", b"{}", b"[]", b'{"kind":"decision"}', b'{"at":3}', None):
            log.append("decisions", value, b"key")
            log.append("rejects", value, b"key")
        _decide(log, PLACE.offset)
        assert _wait(watch, PLACE).has(PLACE)


def test_a_silence_says_whether_an_engine_ticks(settings: Settings, log: Log) -> None:
    """Without an answer it is known whether an engine ticks, and whether it has read the record."""
    with AnswerWatch(settings.kafka, [1, 2]) as watch:
        log.append("heartbeats", orjson.dumps(example("tick")), None, 2)
        log.append("heartbeats", orjson.dumps(example("heartbeat")), b"orders", 1)
        _decide(log, group="payments", read=PLACE.offset + 1)
        answers = _wait(watch, PLACE, OTHER)
    assert (answers.decisions, answers.refusals) == ({}, {})
    assert answers.ticking == {2}
    assert answers.passed == {PLACE}
