"""Of two processes with one client id the lesser must have been told, if both surely lived."""

from pathlib import Path

import pytest

from fairlead.verify.judgement import judge_recording
from strategies.registry import STRATEGIES
from tests.kit.client import Client
from tests.kit.recordings import rows_of, settings_of, write_recording
from tests.kit.world import World

NOTICE = b'"kind":"notice"'


def _lived(world: World, *, beside: bool) -> None:
    """Let a lesser process of c2 come; the greater one lives beside it, or died just before."""
    world.topics.tick(1)
    world.join("c1")
    greater = world.join("c2")
    world.pass_seconds(8)
    if not beside:
        world.clients.remove(greater)
    lesser = Client(world.topics, "orders", "c2", life=9)
    process = {"start_ms": 1_000_000_000_000, "uuid": lesser.incarnation, "incarnations": 1}
    for _ in range(3):
        lesser.beat(process=process)
        lesser.claim(1)
        world.pass_seconds(3)


@pytest.mark.parametrize("beside, told", [(True, True), (True, False), (False, False)])
def test_a_missing_notice_is_found(tmp_path: Path, beside: bool, told: bool) -> None:  # noqa: FBT001 - the two cases
    """A notice that is missing is found; that one started for a dead one was not told is right."""
    world = World(queues={"orders": 2})
    _lived(world, beside=beside)
    rows = rows_of(world)
    notices = [row for log in rows.values() for row in log if NOTICE in (row.value or b"")]
    assert bool(notices) == beside
    if not told:
        rows = {
            place: [row for row in log if NOTICE not in (row.value or b"")]
            for place, log in rows.items()
        }
    judgement = judge_recording(
        write_recording(tmp_path / "r", rows, settings_of(world)), STRATEGIES, None
    )
    ruling = next(each for each in judgement.rulings if each.number == "S14")
    found = [finding.text for finding in ruling.findings]
    missing = ["c2 runs twice, and its lesser process got no notice"]
    assert found == (missing if beside and not told else [])
