"""Which of the demo's clients push."""

import pytest
from fairlead_proof.demo.consumers import Consumers


@pytest.mark.parametrize(
    "consumers, pushing",
    [(Consumers.MIXED, ["c2", "c10"]), (Consumers.LOOP, []), (Consumers.PUSH, ["c1", "c2", "c10"])],
)
def test_every_second_client_of_a_mix_is_pushed(consumers: Consumers, pushing: list[str]) -> None:
    """Where both are mixed, every second client gets its messages by a listener."""
    assert [name for name in ("c1", "c2", "c10") if consumers.pushes(name)] == pushing
