"""Records that are lost, late or read again, told as stories."""

from tests.handover.beginnings import gated_b, owned_by_a, start_of


def test_a_lost_add_is_healed() -> None:
    """B's only record is lost: its digest differs, and it is written again (rule H17)."""
    story, a, b = gated_b()
    b.loses()
    a.reads()
    a.stops()
    story.engine()
    b.loses()
    b.reads_all()
    assert story.owner() is None
    story.time(16_000)
    b.reads_all()
    assert story.owner() == "b"


def test_a_lost_drop_is_healed() -> None:
    """A's drop is lost: A works on until the engine repeats it, and B waits."""
    story, a, b = gated_b()
    a.loses()
    story.time(16_000)
    b.reads_all()
    assert story.owner() == "a"
    a.reads_all()
    a.stops()
    b.reads_all()
    assert story.owner() == "b"


def test_an_older_add_read_after_its_grant_shuts_no_gate() -> None:
    """The grant is read first, then the gated add of the same epoch: B starts once, and goes on."""
    story, a, b = gated_b()
    a.processes(4)
    a.reads()
    a.stops()
    story.engine()
    b.skips(
        next(
            i
            for i, output in enumerate(story.told[b.places["told"] :], 1)
            if output.member == b.key
        )
    )
    b.reads()
    assert (story.owner(), start_of(b)) == ("b", 4)
    b.reads_again()
    assert len(b.starts) == 1


def test_a_position_never_goes_back_by_an_older_add() -> None:
    """The healed add has the newer base; the older one, read later, keeps the greater."""
    story, a, b = gated_b()
    story.engine()
    first = b.places["told"]
    a.processes(6)
    story.time(1_500)
    story.world.beat("b", held=1)
    story.time(6_000)
    story.deaths = True
    a.crashes()
    story.time(16_000)
    del first
    b.reads_again()
    b.reads_all()
    b.reads_again()
    assert (story.owner(), start_of(b), len(b.starts)) == ("b", 6, 1)


def test_a_set_that_lacks_a_newer_add_takes_nothing_away() -> None:
    """An old whole set is read again after a newer add: absence there says nothing of it."""
    story, a = owned_by_a()
    story.engine()
    a.reads_again()
    assert story.owner() == "a"
    b = story.joins("b")
    story.engine()
    b.reads_all()
    story.moves(0, "b")
    a.reads()
    a.stops()
    b.reads_all()
    story.engine()
    b.reads_again()
    assert story.owner() == "b"
