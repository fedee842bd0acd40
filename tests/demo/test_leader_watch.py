"""Whom the demo asks who leads, around a fault of a broker."""

from typing import Any, Final

from fairlead_proof.demo.leader_watch import LeaderWatch

VICTIM: Final = 1
BEHIND: Final = 3
"""So many answers later the copies on who was out are in step again."""


class Told(LeaderWatch):
    """Who was out tells what it knew before; whoever is asked beside it knows better."""

    def __init__(self) -> None:
        super().__init__("nowhere:1", ["orders"])
        self.in_step = [VICTIM, 2, 3]
        self.asked = 0

    def _partitions(self) -> list[tuple[str, dict[str, Any]]]:
        self.asked += 1
        if self.asked == BEHIND:
            self.in_step = [VICTIM, 2, 3]
        known = [VICTIM, 2, 3] if self._avoided is None else self.in_step
        return [("orders", {"leader_id": 2, "isr_nodes": known, "replica_nodes": [1, 2, 3]})]


def test_who_was_out_does_not_say_that_all_is_whole() -> None:
    """A broker back from a freeze has not heard yet that it was put out of step."""
    watch = Told()
    watch.in_step = [2, 3]
    with watch.replacing(VICTIM) as leaders_ms:
        assert leaders_ms() > 0
    watch.await_whole()
    assert watch.asked == BEHIND
    watch.in_step = [2, 3]
    watch.await_whole()
    assert watch.asked == BEHIND + 1, "anybody may be asked again"
