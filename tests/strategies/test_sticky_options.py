"""The options of STICKY: what is refused, and with which words."""

from typing import Any

import pytest

from fairlead.core.allocation import AllocationError, Placement
from fairlead.core.model import MessageQueue
from strategies.sticky.options import StickyOptions, sticky_options
from tests.strategies.sticky_groups import allocate, everybody

QUEUE = ["orders", "broker-0", 0]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"zone_frist": True}, "zone_frist: unknown; expected one of bans, broker_zones"),
        ({"zone_first": "yes"}, "zone_first: 'yes' is not true or false"),
        ({"zones": ["a"]}, "zones: ['a'] is not an object"),
        ({"zones": {"a": 1}}, "zones: 1 is not a name"),
        ({"broker_zones": {"": "east"}}, "broker_zones: '' is not a name"),
        ({"queue_zones": {"a": "b"}}, "queue_zones: {'a': 'b'} is not a list"),
        ({"queue_zones": [[QUEUE]]}, "queue_zones[0]: [['orders', 'broker-0', 0]] is not a pair"),
        (
            {"weights": [[QUEUE, -1]]},
            "weights[0]: -1 is out of range; expected a number from 0 to 1e+15",
        ),
        ({"weights": [[QUEUE, float("nan")]]}, "weights[0]: nan is out of range"),
        ({"weights": [[QUEUE, True]]}, "weights[0]: True is out of range"),
        (
            {"weights": [["orders", 1]]},
            "weights[0]: 'orders' is not a queue; expected [topic, broker",
        ),
        (
            {"weights": [[["orders", "broker-0", "0"], 1]]},
            "weights[0]: ['orders', 'broker-0', '0']",
        ),
        ({"capacity": {"a": 0}}, "capacity: 0 is out of range; expected a number from 1e-09"),
        ({"capacity": {"a": 10**400}}, "capacity: 1000"),
        ({"current": {"a": [QUEUE]}}, "current: unknown; expected one of bans"),
        ({"subscriptions": {"a": ["orders"]}}, "subscriptions: unknown; expected one of bans"),
        ({"damping": "0,5"}, "damping: '0,5' is out of range; expected a number from 0"),
        ({"damping": "-0.5"}, "damping: '-0.5' is out of range"),
        ({"damping": "much"}, "damping: 'much' is out of range; expected a number from 0"),
        ({"pins": [[QUEUE, None]]}, "pins[0]: None is not a name"),
        ({"bans": "all"}, "bans: 'all' is not a list"),
        ({"drained": [1]}, "drained: 1 is not a name"),
        ({"effort": -1}, "effort: -1 is out of range; expected a whole number from 0"),
        ({"effort": 1.5}, "effort: 1.5 is out of range; expected a whole number from 0"),
        ({"effort": True}, "effort: True is out of range"),
    ],
)
def test_a_bad_option_is_refused_by_its_name(options: dict[str, Any], message: str) -> None:
    """A bad option is refused by its name, with what is wrong and what is expected."""
    with pytest.raises(AllocationError) as caught:
        allocate({"orders": 2}, everybody(["a", "b"]), **options)
    assert caught.value.code == "bad_option"
    assert caught.value.message.startswith(message)


def test_a_fraction_may_be_text() -> None:
    """What a rule writes as text, since records hold no fractions, is a number."""
    options = {"damping": "0.25", "weights": [[QUEUE, "2.5"]], "capacity": {"a": "1.5"}}
    numbers = {"damping": 0.25, "weights": [[QUEUE, 2.5]], "capacity": {"a": 1.5}}
    assert sticky_options(options) == sticky_options(numbers)
    assert sticky_options({"damping": "0"}).damping == 0


def test_a_rule_replaces_only_its_own_option() -> None:
    """What a rule says of a queue or client takes the place of the option, and of nothing else."""
    queue, other = MessageQueue("orders", "broker-0", 0), MessageQueue("orders", "broker-0", 1)
    options = sticky_options(
        {
            "pins": [[QUEUE, "a"], [QUEUE, "b"], [[*other], "a"]],
            "bans": [[QUEUE, "a"], [[*other], "a"]],
            "weights": [[QUEUE, 2], [[*other], 3]],
            "capacity": {"a": 2, "b": 3},
        }
    )
    ruled = options.under(
        Placement(
            pins={queue: "c"},
            bans={queue: ("c", "d")},
            weights={queue: 9.0},
            capacities={"a": 9.0},
        )
    )
    assert ruled.pins == {queue: ("c",), other: ("a",)}
    assert ruled.bans == {queue: frozenset({"c", "d"}), other: frozenset({"a"})}
    assert ruled.weights == {queue: 9.0, other: 3}
    assert ruled.capacity == {"a": 9.0, "b": 3}
    assert options.under(Placement()) == options


def test_without_options_the_request_counts() -> None:
    """Without options everything is as it stands in the request."""
    assert sticky_options({}) == StickyOptions()
