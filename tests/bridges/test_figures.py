"""What a bridge says of itself: ready while looks are answered, and why not otherwise."""

from fairlead.bridges.figures import BridgeFigures


class World:
    """Figures on a clock that the test moves."""

    def __init__(self) -> None:
        self.at = 50.0
        self.figures = BridgeFigures(poll_ms=2_000, clock=lambda: self.at, now=lambda: self.at)

    def state(self, seconds: float = 0) -> tuple[str, bool]:
        """Let time pass and ask."""
        self.at += seconds
        verdict = self.figures.verdict()
        return verdict.state, verdict.ready


def test_life_of_a_bridge() -> None:
    """It starts, runs, sees the data cluster go and come, and is stalled when its loop hangs."""
    world = World()
    assert world.state() == ("starting", False)
    world.figures.turned()
    assert world.state() == ("starting", False)
    world.figures.looked(3, failed=False)
    assert world.state() == ("running", True)
    for _ in range(10):
        world.at += 2
        world.figures.turned()
        world.figures.looked(3, failed=True)
    assert world.state() == ("look_ups_fail", False)
    assert "for 20 s" in world.figures.verdict().reason
    world.figures.looked(3, failed=False)
    assert world.state() == ("running", True)
    assert world.state(16) == ("stalled", False)
    assert "stood still for 16 s" in world.figures.verdict().reason
