"""Ways to forge one record of a sound recording, each with the invariant that it breaks."""

from collections.abc import Callable
from typing import Any

from tests.kit.journaled_world import Body, Rows, forge


def first_of(body: Body, name: str, **wanted: object) -> Body | None:
    """Return the first entry of a list that has these fields."""
    for entry in body.get(name, ()):
        if all(entry.get(key) == value for key, value in wanted.items()):
            found: Body = entry
            return found
    return None


def _epoch_back(body: Body) -> bool:
    if body["group"] != "orders" or body["epoch"][1] < 6:
        return False
    body["epoch"] = [body["epoch"][0], 1]
    return True


def early_grant(rows: Rows) -> None:
    """A gated grant loses its gate, in the decision and in the client's record."""
    gated: list[Any] = []

    def edit(body: Body) -> bool:
        move = first_of(body, "moves", stage="gated")
        if move is None:
            return False
        move["stage"] = "granted"
        gated.extend((move["queue"], move["epoch"]))
        return True

    forge(rows, "decisions", edit)

    def lose(body: Body) -> bool:
        add = first_of(body, "add", queue=gated[0], epoch=gated[1])
        if add is None or not add["after"]:
            return False
        add["after"] = []
        return True

    forge(rows, "assignments", lose)


def _gate_missing(body: Body) -> bool:
    for add in body.get("add", ()):
        if add["after"]:
            add["after"][0]["epoch"] = [1, 999]
            return True
    return False


def _phantom(body: Body) -> bool:
    move = first_of(body, "moves", stage="granted")
    if move is None:
        return False
    move["client_id"] = "ghost"
    return True


def _unread_queue(body: Body) -> bool:
    move = first_of(body, "moves", stage="granted")
    if move is None:
        return False
    move["queue"][2] = 77
    return True


def _skip(body: Body) -> bool:
    for move in body.get("moves", ()):
        if move["stage"] in ("granted", "gated") and move["why"] in ("release", "progress"):
            move["position"][1] += 5
            return True
    return False


def _silent_zero(body: Body) -> bool:
    for move in body.get("moves", ()):
        if move["stage"] in ("granted", "gated") and move["position"][1] > 0:
            move["position"][1], move["why"] = 0, "first_offset"
            return True
    return False


def _wrong_drop(body: Body) -> bool:
    if not body.get("drop"):
        return False
    body["drop"][0]["queue"][2] += 1
    return True


def _not_granted(body: Body) -> bool:
    if not body.get("assigned"):
        return False
    body["assigned"].append({"queue": ["orders", "main", 3], "epoch": [1, 555], "state": "held"})
    return True


def _other_cause(body: Body) -> bool:
    for cause in body.get("cause", ()):
        if "heartbeats" in cause.get("at", [""])[0]:
            cause["at"][1] = 1 - cause["at"][1]
            return True
    return False


def _no_cause(body: Body) -> bool:
    if first_of(body, "moves", stage="dropped") is None:
        return False
    body["cause"], body["triggers"] = [], []
    return True


def _false_death(body: Body) -> bool:
    if body["group"] != "orders" or not body["members"]:
        return False
    body["cause"].append({"kind": "client_expired", "client_id": body["members"][0]})
    return True


def _early_release(body: Body) -> bool:
    """A release that opened a gate is of another epoch: nobody released what was granted."""
    if body["kind"] != "release" or body["position"] is None:
        return False
    body["epoch"] = [1, 998]
    return True


def _generation(body: Body) -> bool:
    if body["cut"]["generation"] != 2:
        return False
    body["cut"]["generation"] = 7
    return True


def _clock(body: Body) -> bool:
    body["clock_ms"] += 1
    return True


FORGERIES: dict[str, tuple[str, Callable[[Body], bool], str]] = {
    "gate missing": ("assignments", _gate_missing, "S2"),
    "clock ahead": ("decisions", _clock, "S2"),
    "release of another epoch": ("releases", _early_release, "S2"),
    "epoch back": ("decisions", _epoch_back, "S3"),
    "generation without a claim": ("decisions", _generation, "S3"),
    "start beyond": ("decisions", _skip, "S5"),
    "silent zero": ("decisions", _silent_zero, "S5"),
    "wrong drop": ("assignments", _wrong_drop, "S6"),
    "phantom client": ("decisions", _phantom, "S9"),
    "queue of no route": ("decisions", _unread_queue, "S9"),
    "cause of another shard": ("decisions", _other_cause, "S10"),
    "no cause": ("decisions", _no_cause, "S12"),
    "set with what was never granted": ("assignments", _not_granted, "S15"),
    "false death": ("decisions", _false_death, "L3"),
}
