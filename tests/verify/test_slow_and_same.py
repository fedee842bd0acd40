"""What takes too long, and who shares a name: handovers, heals and clones in the judge's eyes."""

from pathlib import Path
from typing import Any

import orjson

from tests.kit.journaled_world import Life, Writer
from tests.kit.judgements import judged, ruling_of, told_by
from tests.kit.memory_topics import START_MS
from tests.verify.deaf import life_of_the_deaf


def test_a_stuck_handover_is_found(tmp_path: Path) -> None:
    """A drop that nobody answers and no alarm tells of is found, and so is its handover."""
    life = life_of_the_deaf()
    life.world.pass_seconds(75)
    rows = life.rows()
    for at, row in enumerate(rows["decisions", 0]):
        body = orjson.loads(row.value or b"")
        body["alarms"] = []
        rows["decisions", 0][at] = row._replace(value=orjson.dumps(body))
    judgement = judged(life.record(tmp_path / "r", rows))
    assert {"L1", "L2"} <= {*judgement.broken}
    assert "and there was no alarm" in told_by(judgement)


class _Confused(Writer):
    """A client whose digest is of something else than it holds."""

    def beat(self, **changes: Any) -> None:
        """Heartbeat with a digest that never changes."""
        Writer.beat(self, **{"digest": "00000000000000ab", **changes})


def _confused_life() -> tuple[Life, _Confused]:
    life = Life()
    life.join("sound")
    client = _Confused(life.world.topics, "orders", "confused", generation=1, diary=life.diary)
    client.beat()
    client.claim(1)
    life.world.clients.append(client)
    life.world.pass_seconds(8)
    return life, client


def test_healing_three_times_in_vain_is_found(tmp_path: Path) -> None:
    """A member that is healed three times in a row, and stays as it is, is found."""
    life, _ = _confused_life()
    life.world.pass_seconds(20)
    judgement = judged(life.record(tmp_path / "r"))
    assert judgement.broken == ("L4",)
    assert told_by(judgement) == "L4: confused of orders still differs after 2 heals in a row"


def test_healing_twice_in_a_row_is_found(tmp_path: Path) -> None:
    """Heals that a change of the member lies between, or another driver, are not in a row."""
    life, client = _confused_life()
    life.world.pass_seconds(6)
    client.beat(digest="00000000000000cd")
    life.world.start_driver()
    life.world.pass_seconds(8)
    judgement = judged(life.record(tmp_path / "r"))
    assert told_by(judgement) == ""
    assert judgement.counts["triggers"]["healed"] >= 3


def test_a_digest_that_changed_and_came_back_has_obeyed(tmp_path: Path) -> None:
    """A member whose digest became another one, and is the old one again, has obeyed meanwhile."""
    life, client = _confused_life()
    for _ in range(3):
        client.beat(digest="00000000000000cd")
        life.world.pass_seconds(9)
    judgement = judged(life.record(tmp_path / "r"))
    assert told_by(judgement) == ""
    assert judgement.counts["triggers"]["healed"] >= 3


class _Clone(Writer):
    """Another process with the client id of a client."""

    def beat(self, **changes: Any) -> None:
        """Heartbeat as a process of its own, that started later."""
        uuid = "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03"
        process = {"start_ms": START_MS + 5_000, "uuid": uuid, "incarnations": 1}
        Writer.beat(self, process=process, **changes)


def test_an_untold_clone_is_found(tmp_path: Path) -> None:
    """The lesser of two processes with one client id that was never told is found."""
    life = Life()
    life.join("twin")
    life.join("single")
    life.world.pass_seconds(4)
    clone = _Clone(life.world.topics, "orders", "twin", life=2, generation=1, diary=life.diary)
    clone.beat()
    clone.claim(1)
    life.world.clients.append(clone)
    life.world.pass_seconds(8)
    sound = judged(life.record(tmp_path / "sound"))
    assert ruling_of(sound, "S14").outcome == "held", told_by(sound)
    rows = life.rows()
    for place, log in rows.items():
        rows[place] = [row for row in log if b'"kind":"notice"' not in (row.value or b"")]
    judgement = judged(life.record(tmp_path / "r", rows))
    assert "S14" in judgement.broken
    assert "its lesser process got no notice" in told_by(judgement)
