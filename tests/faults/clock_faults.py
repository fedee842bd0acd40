"""Faults of wall clocks: ahead, behind, and set while everything runs.

Each leaves the clock true again. What the clock shows is read from what its owner wrote: append
times of the broker, Spark's own time of its batches, the driver's metrics.
"""

import json
import random
import re
import urllib.request
from pathlib import Path
from typing import Final

from tests.faults import client_faults, engine_faults
from tests.faults.clocks import Clocks, ahead_by
from tests.faults.stage import RATE, Stage

TEN_MINUTES: Final = 600
HOUR: Final = 3_600
_TOLERANCE_SECONDS: Final = 60.0


def skewed(stage: Stage, clocks: Clocks, who: str, seconds: int, chance: random.Random) -> None:
    """A clock is wrong for a while: clients die, join and leave meanwhile as ever."""
    set_clock(stage, clocks, who, seconds)
    client_faults.killed(stage, chance)
    client_faults.told_to_go(stage, chance)
    set_clock(stage, clocks, who, 0)


def restarted_under(stage: Stage, clocks: Clocks, who: str, chance: random.Random) -> None:
    """The engine is killed, and starts again with a clock that is behind what it wrote itself."""
    clocks.set(who, -TEN_MINUTES)
    engine_faults.killed(stage, chance, "all")
    _assert_shown(stage, who, -TEN_MINUTES)
    set_clock(stage, clocks, who, 0)


def set_clock(stage: Stage, clocks: Clocks, who: str, seconds: int) -> None:
    """A clock is set under load: nobody lapses, and no queue moves."""
    with stage.trial(f"clock of {who} set to {seconds:+d} s") as trial:
        with stage.phase(trial, "set", owners=set()):
            clocks.set(who, seconds)
            stage.quick.await_processed(6 * RATE)
        _assert_shown(stage, who, seconds)


def _assert_shown(stage: Stage, who: str, seconds: int) -> None:
    shown = shown_by(stage, who)
    assert abs(shown - seconds) < _TOLERANCE_SECONDS, f"{who} is {shown:+.0f} s off, not {seconds}"


def shown_by(stage: Stage, who: str) -> float:
    """Return by how many seconds a clock is ahead, by what its owner wrote last."""
    if who == "broker":
        stage.read_on()
        return ahead_by(stage.records("heartbeats")[-1].append_ms)
    if who == "jvm":
        folder = stage.checkpoint / "query" / "offsets"
        newest = max((path for path in folder.iterdir() if path.name.isdigit()), key=_number)
        return ahead_by(json.loads(newest.read_text().splitlines()[1])["batchTimestampMs"])
    log = stage.system.engine.log.read_text(encoding="utf-8")
    url = re.findall(r'"event":"metrics","url":"(http[^"]+)"', log)[-1]
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - the engine's own
        text = answer.read().decode()
    told = re.search(r"(?m)^fairlead_last_batch_timestamp_seconds (\S+)$", text)
    assert told is not None
    return ahead_by(1_000 * float(told[1]))


def _number(path: Path) -> int:
    return int(path.name)
