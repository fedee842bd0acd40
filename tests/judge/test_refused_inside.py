"""What RocketMQ refuses inside MACHINE_ROOM_NEARBY, and when."""

from pathlib import Path
from typing import Final

import pytest
from fairlead_proof.conformance.answer import answer

from tests.judge.cases import Case
from tests.judge.real_classes import judged

pytestmark = pytest.mark.java

NEGATIVE: Final = {"inner": "CONSISTENT_HASH", "inner_options": {"virtual_nodes": -1}}
UNSET: Final = {"inner": "CONFIG", "inner_options": {"queues": None}}


def _nearby(options: Case, **more: object) -> Case:
    fields = {"queues": [["orders", "a-b", 0]], "clients": ["a-c"], "options": options, **more}
    return {"id": 1, "kind": "allocate", "strategy": "MACHINE_ROOM_NEARBY", **fields}


NEGATIVES: Final = (
    _nearby(NEGATIVE),
    _nearby(NEGATIVE, queues=[]),
    _nearby(NEGATIVE, clients=["-c"]),
    *(_nearby(NEGATIVE, **{"for": asked}) for asked in (["a stranger"], [""], [])),
)


def test_rocketmq_refuses_both(tmp_path: Path) -> None:
    """A constructor throws before the case is looked at, and a missing list when it is added."""
    *negatives, unset = judged([*NEGATIVES, _nearby(UNSET)], tmp_path)
    assert {each["error"]["code"] for each in negatives} == {"virtual_nodes_invalid"}
    assert unset["error"]["code"] == "bad_option"


def test_an_inner_strategy_refuses_before_the_case_is_looked_at() -> None:
    """Negative nodes are refused whatever the queues, the clients and the ids asked for are."""
    codes = [answer(case).get("error", {}).get("code") for case in NEGATIVES]
    assert codes == ["virtual_nodes_invalid"] * len(NEGATIVES)


def test_an_inner_list_that_was_never_configured_is_refused() -> None:
    """Alone it is an empty share; inside, RocketMQ throws, and nobody loses what is held."""
    assert answer(_nearby(UNSET))["error"]["code"] == "bad_option"
