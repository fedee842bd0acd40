"""A tick that no driver wrote proves nothing, also where no engine was left to refuse it."""

from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from fairlead.engine.seals import seal_of
from fairlead.verify.judgement import Judgement
from tests.kit.journaled_world import Life
from tests.kit.judgements import judged, told_by
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.verify.deaf import life_of_the_deaf

SECRETS: Final = ("0a" * 32, "0b" * 32)
FORGED: Final = 1_000_000
_LONG: Final = 90
"""Seconds; nobody may wait for so long while an engine runs."""


def _life() -> Life:
    """A group in the midst of a handover, whose engine has died."""
    life = life_of_the_deaf()
    life.world.pass_seconds(3)
    assert life.world.decisions[-1]["state"]["in_handover"] > 0
    return life


def _go_on(life: Life, generation: int | None, **first: str) -> None:
    """Let clients live on without an engine, beside ticks of a generation; None: without ticks."""
    topics = life.world.topics
    for second in range(_LONG):
        topics.now_ms += 1_000
        if generation is not None:
            for shard in range(PARTITIONS.shards):
                said = {name: text.split()[shard] for name, text in first.items() if not second}
                tick = {"kind": "tick", "generation": generation, **said}
                topics.append("heartbeats", shard, None, tick)
        for client in life.world.clients:
            client.beat()


def _judged(life: Life, folder: Path, *, seals: tuple[str, ...] | None = None) -> Judgement:
    """Judge what stands in the topics; with seals another driver has claimed the next one."""
    rows = life.rows()
    if seals is not None:
        last = rows["generations", 0][-1]
        claim: dict[str, Any] = {**orjson.loads(last.value or b""), "seals": [*seals]}
        claim["driver"] = claim["driver"][:-1] + "9"
        rows["generations", 0].append(
            last._replace(
                offset=last.offset + 1,
                key=claim["driver"].encode(),
                value=orjson.dumps(claim),
            )
        )
        assert last.topic == NAMES.name("generations")
    return judged(life.record(folder / "recording", rows))


SEALS: Final = tuple(seal_of(secret) for secret in SECRETS)


@pytest.mark.parametrize(
    "generation,first,seals",
    [
        (None, {}, None),
        (FORGED, {}, None),
        (FORGED, {"secret": " ".join(SECRETS)}, SEALS),
        (2, {}, SEALS),
        (2, {"secret": " ".join(reversed(SECRETS))}, SEALS),
    ],
    ids=["none", "unclaimed", "above-the-claim", "without-secret", "wrong-secret"],
)
def test_no_engine_is_accused_for_a_tick_that_no_driver_wrote(
    tmp_path: Path, generation: int | None, first: dict[str, str], seals: tuple[str, ...] | None
) -> None:
    """What waits when the last driver ticked is excused, whoever else says that one ticks."""
    life = _life()
    _go_on(life, generation, **first)
    judgement = _judged(life, tmp_path, seals=seals)
    assert told_by(judgement) == ""
    assert judgement.counts["decisions"] > 0


@pytest.mark.parametrize(
    "generation,first,seals",
    [
        (1, {}, None),
        (2, {"secret": " ".join(SECRETS)}, SEALS),
        (2, {}, ()),
    ],
    ids=["the-driver-itself", "proved", "of-an-older-version"],
)
def test_an_engine_that_ticks_and_decides_nothing_is_found(
    tmp_path: Path, generation: int, first: dict[str, str], seals: tuple[str, ...] | None
) -> None:
    """The same log, with ticks that a driver wrote: the handover is judged."""
    life = _life()
    _go_on(life, generation, **first)
    judgement = _judged(life, tmp_path, seals=seals)
    assert "L1" in judgement.broken
