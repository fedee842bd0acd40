"""Which corners the cases about routes, selections and start offsets reach: counted per kind."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from tests.judge.branches import ALL, Case, Counts
from tests.judge.start_offset_cases import NO_DATES, ODD, TURNS

_BASIC_LAST: Final = 0xFFFF


def count(cases: Iterable[Case], answers: Iterable[Case]) -> Counts:
    """Count the branches of cases and of what RocketMQ answered them."""
    counts: Counter[tuple[str, str]] = Counter()
    for case, answer in zip(cases, answers, strict=True):
        found = {ALL, *_OF[case["kind"]](case, answer)}
        if not json.dumps(case, ensure_ascii=False).isascii():
            found.add("names: not ASCII")
        if "error" in answer:
            found |= {"error: any", f"error: {answer['error']['code']}"}
        counts.update((case["kind"], branch) for branch in found)
    return counts


def _of_route(case: Case, answer: Case) -> Iterator[str]:
    told = case["route"]
    yield "route: a text" if isinstance(told, str) else "route: an object"
    text = told if isinstance(told, str) else json.dumps(told)
    if isinstance(told, str) and _is_no_json(told):
        yield "route: bare broker ids"
    if '"topicSynFlag"' in text:
        yield "route: topicSynFlag"
    if '"topicSysFlag"' in text:
        yield "route: topicSysFlag"
    if '"topicQueueMappingByBroker"' in text:
        yield "route: a static topic's mapping"
    if "result" not in answer:
        return
    result = answer["result"]
    queues = result["queues"] if case["kind"] == "publish_info" else result
    yield "queues: some" if queues else "queues: none"
    if any(queue[1].startswith("__syslo__") for queue in queues):
        yield "queues: logical"
    names = [queue[1] for queue in queues]
    if any(ord(letter) > _BASIC_LAST for name in names for letter in name) and len(set(names)) > 1:
        yield "queues: a supplementary character sorted"
    if case["kind"] == "publish_info":
        yield f"ordered: {result['ordered']}"
        if len({tuple(queue) for queue in queues}) < len(queues):
            yield "queues: one twice"


def _is_no_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def _of_change(case: Case, answer: Case) -> Iterator[str]:
    if case["old"] is None or case["new"] is None:
        yield "route: none before or after"
    elif case["old"] != case["new"]:
        yield f"told otherwise, changed: {answer['result']}"
    else:
        yield f"told alike, changed: {answer['result']}"


def _of_selection(case: Case, answer: Case) -> Iterator[str]:
    for last, (queue, index) in zip(case["last_brokers"], answer.get("result", ()), strict=False):
        if last is None:
            yield "call: the first"
        elif queue[1] == last:
            yield "call: the last broker has them all"
        else:
            yield "call: another broker than the last"
        if index < 0:
            yield "index: negative"


def _of_latency(case: Case, answer: Case) -> Iterator[str]:
    yield f"avoided: {answer['result']}"
    if case["isolation"]:
        yield "isolation"


def _of_sequence(case: Case, answer: Case) -> Iterator[str]:
    unavailable = set()
    for step, found in zip(case["steps"], answer.get("result", ()), strict=False):
        yield f"step: {step[0]}"
        if step[0] in ("available", "reachable"):
            yield f"{step[0]}: {found}"
            if found is False:
                unavailable.add(step[1])
        if step[0] == "select" and found[0] not in case["queues"]:
            yield "select: a queue made of the worst broker"
        if step[0] == "select" and step[1] is not None:
            yield f"select: {'the' if found[0][1] == step[1] else 'another than the'} last broker"


def _of_start(case: Case, answer: Case) -> Iterator[str]:
    yield f"{case['consumer']}: {case['consume_from']}"
    retry = "a retry" if case["topic"].startswith("%RETRY%") else "a normal"
    stored = "found" if case["stored"] >= 0 else "none" if case["stored"] == -1 else "failed"
    yield f"stored: {stored}, {retry} topic"
    result: Mapping[str, Any] = answer.get("result", {})
    if result.get("searched_timestamp_ms") is not None:
        kind = "odd" if case["consume_timestamp"] in ODD else "plain"
        yield f"date: {'at a turn of clocks' if case['consume_timestamp'] in TURNS else kind}"
    if "error" in answer and case["consume_timestamp"] in NO_DATES:
        yield "date: none"
    if result.get("offset", 0) < -1:
        yield "offset: a broker's negative one passed on"


_OF: Final[Mapping[str, Callable[[Case, Case], Iterator[str]]]] = {
    "publish_info": _of_route,
    "subscribe_info": _of_route,
    "route_changed": _of_change,
    "select_queue": _of_selection,
    "not_available_ms": _of_latency,
    "fault_strategy": _of_sequence,
    "start_offset": _of_start,
}
