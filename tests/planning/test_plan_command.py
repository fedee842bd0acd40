"""The line of `fairlead plan` that a page shows, read again by the command's own flags."""

import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.cli.change.given_rules import given_rules, wanted_rules
from fairlead.cli.change.plan_flags import _gone, joins_of, routes_of
from fairlead.core.model import MessageQueue
from fairlead.core.records import RuleSet
from fairlead.planning.changes import Changes, Join, RouteSize
from fairlead.planning.plan_command import plan_command

GROUP = "orders"

_CLIENTS = st.text("abc$';&-=@*(", min_size=1, max_size=8)
_TOPICS = st.text("ab-_%", min_size=1, max_size=6)
_QUEUES = st.builds(MessageQueue, _TOPICS, st.text("xy-. ", min_size=1), st.integers(0, 99))


def _of_queue(name: str, queue: MessageQueue, **more: Any) -> RuleSet:
    subject = (queue.topic, queue.broker_name, str(queue.queue_id))
    return RuleSet(GROUP, name, subject, {"queue": [*queue], **more})


def _of_client(name: str, client_id: str, **more: Any) -> RuleSet:
    return RuleSet(GROUP, name, (client_id,), {"client_id": client_id, **more})


_RULES = st.one_of(
    st.builds(lambda queue, to: _of_queue("pin", queue, client_id=to), _QUEUES, _CLIENTS),
    st.builds(
        lambda queue, who: _of_queue("ban", queue, client_ids=who),
        _QUEUES,
        st.lists(_CLIENTS, min_size=1, max_size=3, unique=True),
    ),
    st.builds(lambda queue: _of_queue("weight", queue, weight="2.5"), _QUEUES),
    st.builds(lambda who: _of_client("capacity", who, capacity="3"), _CLIENTS),
    st.builds(lambda who: _of_client("drain", who), _CLIENTS),
    st.just(RuleSet(GROUP, "slots", (), "group")),
    st.just(RuleSet(GROUP, "weighing", (), {"by": "lag"})),
    st.builds(
        lambda name, options: RuleSet(GROUP, "strategy", (), {"name": name, "options": options}),
        st.sampled_from(["STICKY", "AVG"]),
        st.dictionaries(st.text(max_size=4), st.integers(-999, 999), max_size=2),
    ),
    st.builds(
        lambda only, topics: RuleSet(
            GROUP, "designated", (), {"only": only, "topics": topics, "if_nobody": "all"}
        ),
        st.lists(_CLIENTS, min_size=1, max_size=2),
        st.lists(_TOPICS, min_size=1, max_size=2),
    ),
    st.just(RuleSet(GROUP, "strategy", (), None)),
    st.builds(lambda queue: replace(_of_queue("pin", queue), value=None), _QUEUES),
    st.builds(lambda who: RuleSet(GROUP, "drain", (who,), None), _CLIENTS),
)


def _read(command: str) -> tuple[str, dict[str, list[str]]]:
    """Return the group and the values of the flags, as a shell and the command line read them."""
    words, group, flags = shlex.split(command)[2:], "", dict[str, list[str]]()
    while words:
        word = words.pop(0)
        if word == "--":
            group = words.pop(0)
        elif not word.startswith("--"):
            group = word
        else:
            name, sign, value = word.partition("=")
            flags.setdefault(name, []).append(value if sign else words.pop(0))
    return group, flags


def _rules(flags: dict[str, list[str]]) -> list[RuleSet]:
    given: dict[str, Any] = {}
    for name, values in flags.items():
        key = name.removeprefix("--").replace("-", "_")
        one = key in ("strategy", "options", "slots", "weigh_by", "if_nobody")
        given[key] = values[0] if one else values
    return [*wanted_rules(GROUP, given_rules(**given)), *_gone(GROUP, flags.get("--unset", []))]


def _key(rule: RuleSet) -> tuple[str, tuple[str, ...]]:
    return rule.rule, rule.subject


@given(
    joins=st.lists(
        st.builds(
            Join,
            _CLIENTS,
            st.none() | st.lists(_TOPICS, min_size=1, unique=True).map(tuple),
            st.none() | st.text("ab c", min_size=1),
            st.integers(1, 1_000),
        ),
        max_size=3,
    ),
    leaves=st.lists(_CLIENTS, max_size=2),
    sizes=st.lists(
        st.builds(RouteSize, _TOPICS, st.none() | st.text("xy-/", min_size=1), st.integers(0, 99)),
        max_size=2,
    ),
    rules=st.lists(_RULES, max_size=4, unique_by=_key),
    group=st.sampled_from([GROUP, "-orders", "a'b"]),
)
def test_the_command_plans_the_same(
    joins: list[Join],
    leaves: list[str],
    sizes: list[RouteSize],
    rules: list[RuleSet],
    group: str,
) -> None:
    """What the line says to a shell is what was asked for, rule by rule and client by client."""
    command = plan_command(group, Changes(tuple(joins), tuple(leaves), tuple(sizes), tuple(rules)))
    assert command is not None
    name, flags = _read(command)
    assert name == group
    assert joins_of(flags.get("--join", ())) == tuple(joins)
    assert flags.get("--leave", []) == leaves
    assert routes_of(flags.get("--route", ())) == tuple(sizes)
    assert sorted(_rules(flags), key=_key) == sorted(rules, key=_key)


@pytest.mark.parametrize(
    "changes",
    [
        Changes(rules=(RuleSet(GROUP, "timing", (), {"lease_ms": 9_000}),)),
        Changes(rules=(RuleSet(GROUP, "mode", (), None),)),
        Changes(rules=(RuleSet(GROUP, "weighing", (), {"by": "lag", "over_ms": 9}),)),
        Changes(rules=(_of_queue("pin", MessageQueue("t", "a/b", 1), client_id="c"),)),
        Changes(joins=(Join("c,zone=east"),)),
        Changes(routes=(RouteSize("t", "a=b", 4),)),
    ],
    ids=["timing", "unset_mode", "weighing", "broker", "client", "route"],
)
def test_what_no_flag_says_has_no_command(changes: Changes) -> None:
    """A change that the command cannot plan is no line that plans something else."""
    assert plan_command(GROUP, changes) is None
