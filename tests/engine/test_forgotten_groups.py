"""Groups that are forgotten, and made again under their name."""

from tests.kit.world import Forgetful


def test_epochs_are_not_used_again() -> None:
    """A group that is made again after it was forgotten counts on from where it was (rule H5)."""
    world = Forgetful()
    first = world.join("a")
    world.pass_seconds(3)
    first.gone = True
    world.pass_seconds(25)
    assert world.decisions[-1]["triggers"] == ["group_evicted"]
    before = world.decisions[-1]["epoch"]
    world.join("b")
    world.pass_seconds(3)
    assert world.owners("orders") == dict.fromkeys(range(4), "b")
    later = [entry["epoch"] for entry in world.decisions if entry["members"] == ["b"]]
    assert min(later) > before
