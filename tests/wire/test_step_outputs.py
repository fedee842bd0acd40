"""From bytes through a step to bytes: everything that a step writes is what its schema says."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson

from fairlead.core.model import Source
from fairlead.core.moment import Moment
from fairlead.core.outputs import Rejection
from fairlead.core.records import Arrival
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.state import GroupState
from fairlead.core.step import step
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.raw import OutgoingRecord, Partitions, RawRecord
from fairlead.wire.topics import TopicNames
from strategies.registry import STRATEGIES
from tests.kit.protocol_page import validator
from tests.kit.wire_records import LIMITS, TOPIC_OF, example, raw_of

ORDER = ("control", "routes", "offsets", "releases", "heartbeats")
START_MS = 1_781_000_000_000
OTHER = {"client_id": "10.0.0.4@77#1", "incarnation": "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03"}


@dataclass
class Engine:
    """One group, fed with bytes. Each step is a batch of bodies in their right places."""

    generation: int = 1
    clock_ms: int = 0
    state: GroupState | None = None
    rows: list[RawRecord] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def step(self, *bodies: dict[str, Any], after_ms: int = 100) -> list[dict[str, Any]]:
        """Read the bodies, and return what is written; each must be what its schema says."""
        self.clock_ms += after_ms
        append_ms = START_MS + self.clock_ms
        sources: dict[Source, RawRecord] = {}
        arrivals = []
        for body in sorted(bodies, key=lambda body: ORDER.index(TOPIC_OF[body["kind"]])):
            row = raw_of(body)._replace(offset=len(self.rows), append_ms=append_ms)
            self.rows.append(row)
            source = Source(row.topic, row.partition, row.offset, append_ms)
            sources[source] = row
            record: Any = decode(TOPIC_OF[body["kind"]], row, LIMITS)
            arrivals.append(Arrival(source, self.clock_ms, record))
        ends = {"fairlead.heartbeats": {0: len(self.rows)}}
        moment = Moment(self.clock_ms, append_ms, self.generation, 0, 1, ends)
        result = step(self.state, arrivals, moment, EngineRules(self.generation, STRATEGIES))
        self.state = result.state
        records: list[OutgoingRecord] = []
        for output in result.outputs:
            if isinstance(output, Rejection):
                row = sources[output.source]
                records.append(encode_reject(output, row, TopicNames(), "0.1.0"))
            else:
                records += encode(output, TopicNames(), Partitions(4, 64))
        return [self._checked(record) for record in records if record.value is not None]

    def _checked(self, record: OutgoingRecord) -> dict[str, Any]:
        assert record.value is not None
        body: dict[str, Any] = orjson.loads(record.value)
        errors = [error.message for error in validator(body["kind"]).iter_errors(body)]
        assert errors == [], body
        self.kinds[body["kind"]] += 1
        return body


def _of(bodies: list[dict[str, Any]], kind: str, client_id: str = "") -> dict[str, Any]:
    """Return the one body of a kind, to one client if it is named."""
    [body] = [
        body for body in bodies if body["kind"] == kind and client_id in ("", body.get("client_id"))
    ]
    return body


def _beat(engine: Engine, **changes: Any) -> dict[str, Any]:
    fields = {"sequence": len(engine.rows) + 1, "generation": engine.generation, "applied": None}
    return example("heartbeat", **(fields | changes))


def _offsets(*numbers: int, end: int = 9200) -> dict[str, Any]:
    known = {"min": 0, "max": end, "committed": None, "for_time": None}
    queues = [{"queue": ["orders", "main", number], **known} for number in numbers]
    return example("offsets", queues=queues)


def test_life_of_a_group() -> None:
    """A group joins, shares, hands over, is refused, restarts and leaves, all in valid records."""
    engine = Engine()
    asked = engine.step(_beat(engine))
    whats = {body["what"] for body in asked if body["kind"] == "request"}
    assert whats == {"route", "offsets"}
    told = engine.step(example("route"), _offsets(0, 1, 2, 3))
    mine = example("heartbeat")["client_id"]
    adds = _of(told, "assignment", mine)["add"]
    assert [add["queue"][2] for add in adds] == [0, 1, 2, 3]

    told = engine.step(_beat(engine, **OTHER))
    drops = _of(told, "assignment", mine)["drop"]
    assert [drop["queue"][2] for drop in drops] == [0, 1]
    release = example("release", **{name: _beat(engine)[name] for name in OTHER})
    released = [release | drop | {"position": [0, 9300]} for drop in drops]
    engine.step(_offsets(0, 1, 2, 3, end=9400))
    told = engine.step(*released)
    theirs = _of(told, "assignment", OTHER["client_id"])
    assert [(add["position"], add["why"]) for add in theirs["add"]] == [([0, 9300], "release")] * 2
    assert _of(told, "decision")["state"]["phase"] == "stable"

    refused = engine.step(
        example("reset"), example("rule", value={"name": "NO_SUCH", "options": {}})
    )
    reasons = {body["reason"] for body in refused if body["kind"] == "reject"}
    assert reasons == {"unknown_strategy"}
    assert _of(refused, "decision")["cause"][0]["kind"] == "reset"

    engine.generation = 2
    barrier = engine.step()
    assert _of(barrier, "decision")["state"]["phase"] == "barrier"
    claims = example("claims", generation=2, queues=[])
    passed = engine.step(claims, claims | OTHER)
    assert _of(passed, "decision")["epoch"] > [2, 0]

    mine_now = example("heartbeat")["incarnation"]
    twin = example("heartbeat")["process"] | {"start_ms": START_MS}
    other = {"process": twin, "incarnation": OTHER["incarnation"]}
    engine.step(_beat(engine, **other))
    told = engine.step(_beat(engine), _beat(engine, sequence=99, **other))
    notices = [body for body in told if body["kind"] == "notice"]
    assert [body["winner"]["start_ms"] for body in notices] == [START_MS, START_MS]
    assert {body["incarnation"] for body in notices} == {mine_now, OTHER["incarnation"]}
    engine.step(example("leave", sequence=99))
    gone = engine.step(after_ms=60_000)
    assert {cause["kind"] for cause in _of(gone, "decision")["cause"]} >= {"client_expired"}
    assert {*engine.kinds} == {"request", "assignment", "notice", "decision", "reject"}
