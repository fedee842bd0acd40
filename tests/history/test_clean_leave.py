"""A release stands for a clean leave, where the successor's grant says the same as progress."""

import pytest

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.history.grant_history import GrantSpan
from fairlead.history.history_model import FoundRelease, begins_by_release


@pytest.mark.parametrize(
    "offset, why",
    [(120, "release"), (90, "progress")],
    ids=["stopped there", "its own progress since"],
)
def test_told_by_its_release(offset: int, why: str) -> None:
    """The release counts where it says what progress said before; later progress stays."""
    grant = GrantSpan(
        MessageQueue("orders", "main", 0),
        "c2",
        Epoch(1, 2),
        position=Position(0, 120),
        why="progress",
    )
    released = FoundRelease(("fairlead.releases", 0, 7), 1_000, "c1", offset)
    assert not begins_by_release(grant, released)
    assert grant.why == why
