"""Ways to damage a sound recording, each with an invariant that must tell of it."""

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from fairlead.wire.raw import RawRecord
from tests.kit.journaled_world import Body, Rows, forge
from tests.verify.forgeries import first_of

Damage = Callable[[Rows], object]


def body_of(row: RawRecord) -> Body:
    """Return the content of a record; of what is no JSON object nothing."""
    return orjson.loads(row.value) if row.value and row.value[:1] == b"{" else {}


def _edit(suffix: str, edit: Callable[[Body], bool]) -> Damage:
    return lambda rows: forge(rows, suffix, edit)


def _of_all(suffix: str) -> Damage:
    """Lose everything that stands in a topic."""

    def clear(rows: Rows) -> None:
        for (name, _), log in rows.items():
            if name == suffix:
                log.clear()

    return clear


def _places(rows: Rows, suffix: str) -> Iterator[tuple[list[RawRecord], int]]:
    for (name, _), log in rows.items():
        for at in range(len(log)) if name == suffix else ():
            yield log, at


def _release(**changes: Any) -> Damage:
    """Change the first release of work that was done for a while."""

    def edit(body: Body) -> bool:
        if body["position"] is None or body["position"][1] <= 5:
            return False
        body.update(changes)
        return True

    return _edit("releases", edit)


def _old_epoch(body: Body) -> bool:
    if body["position"] is None or body["epoch"][1] <= 3:
        return False
    body["epoch"][1] -= 1
    return True


def _release_lower(body: Body) -> bool:
    if body["position"] is None or body["position"][1] <= 5:
        return False
    body["position"][1] -= 4
    return True


def _swapped_epochs(body: Body) -> bool:
    if not body.get("add"):
        return False
    body["add"][0]["epoch"][1] += 1
    return True


def _start(suffix: str, name: str, by: int) -> Damage:
    """Let a start after a release lie lower or higher."""

    def edit(body: Body) -> bool:
        for entry in body.get(name, ()):
            position = entry.get("position")
            if entry.get("why") in ("release", "progress") and position[1] + by > 0:
                position[1] += by
                return True
        return False

    return _edit(suffix, edit)


def _gate_lost(body: Body) -> bool:
    for add in body.get("add", ()):
        if add["after"]:
            add["after"].clear()
            return True
    return False


def _granted_at_once(body: Body) -> bool:
    move = first_of(body, "moves", stage="gated")
    if body["group"] != "orders" or move is None or body["cut"]["step"] <= 12:
        return False
    move["stage"] = "granted"
    return True


def _drop_lost(body: Body) -> bool:
    lost = bool(body.get("drop"))
    body["drop"] = []
    return lost


def _jump(milliseconds: int, *, stays: bool) -> Damage:
    """Let the broker's clock jump at a heartbeat, for that record or for good."""

    def change(rows: Rows) -> None:
        log = rows["heartbeats", 0]
        for at in range(40, len(log) if stays else 41):
            log[at] = log[at]._replace(append_ms=log[at].append_ms + milliseconds)

    return change


def _writer_time(rows: Rows) -> None:
    log = rows["heartbeats", 0]
    log[40] = log[40]._replace(append_time_is_log=False)


def _tail_lost(suffix: str, number: int, count: int) -> Damage:
    def change(rows: Rows) -> None:
        del rows[suffix, number][-count:]

    return change


def _decision_again(rows: Rows) -> None:
    """A decision is written again, and tells less."""
    log = rows["decisions", 0]
    row = next(row for row in reversed(log) if first_of(body_of(row), "moves", stage="granted"))
    body = body_of(row)
    body["moves"] = [move for move in body["moves"] if move["stage"] != "granted"]
    log.append(row._replace(offset=log[-1].offset + 1, value=orjson.dumps(body)))


def _garbage(suffix: str, value: bytes | None) -> Damage:
    def change(rows: Rows) -> None:
        log, at = next((log, at) for log, at in _places(rows, suffix) if at == 1 and len(log) > 2)
        log[at] = log[at]._replace(value=value)

    return change


def _cause_lost(body: Body) -> bool:
    if len(body["cause"]) != 1 or first_of(body, "moves", stage="dropped") is None:
        return False
    body["cause"] = []
    return True


def _cause_ahead(body: Body) -> bool:
    for cause in body["cause"]:
        if cause.get("at"):
            cause["at"][2] += 100_000
            return True
    return False


def _cause_of_other_group(rows: Rows) -> None:
    """A cause names a record of its partition that speaks for another group."""
    log = rows["heartbeats", 0]
    at = next(at for at in range(10, 40) if body_of(log[at]).get("kind") == "heartbeat")
    body = body_of(log[at])
    log[at] = log[at]._replace(key=b"orders-2", value=orjson.dumps({**body, "group": "orders-2"}))

    def edit(body: Body) -> bool:
        for cause in body["cause"]:
            if body["cut"]["step"] > 10 and "heartbeats" in (cause.get("at") or [""])[0]:
                cause["at"] = [cause["at"][0], 0, at]
                return True
        return False

    forge(rows, "decisions", edit)


def _cut(**changes: Any) -> Damage:
    def edit(body: Body) -> bool:
        if body["group"] != "orders" or body["cut"]["step"] <= 10:
            return False
        body["cut"].update(changes)
        return True

    return _edit("decisions", edit)


def _cut_beyond(body: Body) -> bool:
    if body["group"] != "orders" or body["cut"]["step"] <= 10:
        return False
    body["cut"]["positions"]["t.heartbeats"]["0"] = 99_999
    return True


def _swapped_files(rows: Rows) -> None:
    one, other = rows["heartbeats", 0], rows["heartbeats", 1]
    rows["heartbeats", 0], rows["heartbeats", 1] = other, one


def _claims_forged(body: Body) -> bool:
    if body["kind"] != "claims" or body["generation"] != 2 or not body["queues"]:
        return False
    body["queues"].pop()
    return True


def _progress_forged(body: Body) -> bool:
    if body["kind"] != "progress" or body["queues"][0]["position"][1] <= 20:
        return False
    body["queues"][0]["position"][1] = 9
    return True


def _tick_forged(body: Body) -> bool:
    forged: bool = body["kind"] == "tick"
    body["generation"] = 9
    return forged


def _ghost(body: Body) -> bool:
    body["members"].append("ghost")
    return len(body["members"]) > 1


def _claim_lost(rows: Rows) -> None:
    del rows["generations", 0][1:]


DAMAGES: dict[str, tuple[Damage, str]] = {
    "no claim of a generation": (_claim_lost, "S3"),
    "no claims at all": (_of_all("generations"), "S3"),
    "epoch of another add": (_edit("assignments", _swapped_epochs), "S15"),
    "granted in place of gated": (_edit("decisions", _granted_at_once), "S2"),
    "gate lost on the way to the client": (_edit("assignments", _gate_lost), "S2"),
    "drop lost on the way to the client": (_edit("assignments", _drop_lost), "S6"),
    "start below": (_start("decisions", "moves", -3), "S5"),
    "start above": (_start("decisions", "moves", 3), "S5"),
    "client told to start below": (_start("assignments", "add", -3), "S5"),
    "client told to start above": (_start("assignments", "add", 3), "S5"),
    "release under an old epoch": (_edit("releases", _old_epoch), "S2"),
    "release by somebody else": (_release(client_id="somebody"), "S2"),
    "release by another life": (
        _release(incarnation="90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03"),
        "S2",
    ),
    "never started, and worked": (_release(position=None), "S2"),
    "released below what was reported": (_edit("releases", _release_lower), "S5"),
    "clock goes back": (_jump(-30_000, stays=False), "S2"),
    "clock goes ahead": (_jump(500, stays=True), "S2"),
    "time of the writer": (_writer_time, "S6"),
    "no heartbeats of a shard": (lambda rows: rows["heartbeats", 0].clear(), "S9"),
    "heartbeats of another shard": (_swapped_files, "S9"),
    "no releases": (_of_all("releases"), "S2"),
    "no assignments": (_of_all("assignments"), "S6"),
    "no routes": (_of_all("routes"), "S9"),
    "no bounds": (_of_all("offsets"), "S5"),
    "newest heartbeats lost": (_tail_lost("heartbeats", 0, 60), "S6"),
    "newest releases lost": (_tail_lost("releases", 0, 6), "S2"),
    "decision again, and other": (_decision_again, "S6"),
    "decision that is no JSON": (_garbage("decisions", b"{nonsense"), "S3"),
    "decision without content": (_garbage("decisions", None), "S3"),
    "assignment that is no object": (_garbage("assignments", b"[1,2]"), "S3"),
    "moves without a cause": (_edit("decisions", _cause_lost), "S12"),
    "cause that was not read": (_edit("decisions", _cause_ahead), "S10"),
    "cause of another group": (_cause_of_other_group, "S10"),
    "cut behind the end": (_edit("decisions", _cut_beyond), "S6"),
    "cut of another shard": (_cut(shard=1), "S9"),
    "cut of no shard": (_cut(shard=9), "S3"),
    "running claim lost": (_edit("heartbeats", _claims_forged), "S6"),
    "progress goes back": (_edit("heartbeats", _progress_forged), "S5"),
    "tick of no driver": (_edit("heartbeats", _tick_forged), "S6"),
    "member that is not there": (_edit("decisions", _ghost), "S6"),
}
