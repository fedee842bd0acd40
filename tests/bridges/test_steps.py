"""Which requests a bridge answers together: it can be stopped between two steps."""

from dataclasses import replace

from fairlead.bridges.request_answerer import steps
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request

_WHOLE = Request("g", "offsets", "orders", None, None)


def _request(group: str, queues: int) -> Request:
    asked = tuple(MessageQueue("orders", "main", number) for number in range(queues))
    return replace(_WHOLE, group=group, queues=asked)


def test_small_requests_share_a_look_up() -> None:
    """Requests for few queues share a look-up, sixteen at a time."""
    asked = [_request(f"g{number}", 2) for number in range(40)]
    found = list(steps(asked, 8))
    assert [len(step) for step in found] == [16, 16, 8]
    assert [one for step in found for one in step] == asked


def test_large_requests_are_looked_up_apart() -> None:
    """A step is for few queues: sixteen requests for thousands each held a stop up for 8 s."""
    asked = [_request("a", 3_000), _request("b", 3_000), _request("c", 1_000), _WHOLE]
    assert [len(step) for step in steps(asked, 5_000)] == [1, 2, 1]


def test_a_large_request_is_a_step_by_itself() -> None:
    """A request for more than a step holds is a step by itself."""
    assert list(steps([_WHOLE, _WHOLE], 100_000)) == [[_WHOLE], [_WHOLE]]
    assert list(steps([], 8)) == []
