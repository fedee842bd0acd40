"""The words of a judgement: numbers of things, and tables on a narrow terminal."""

import ast
from pathlib import Path

import pytest

from fairlead.cli.render.tables import block_lines
from fairlead.verify.verdicts import Verdicts, single

ROOM = Path(__file__).resolve().parents[2] / "fairlead" / "verify"


def _counted() -> set[str]:
    """Return the words of everything that a judge counts."""
    calls = (
        node
        for path in ROOM.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("erdicts.count")
    )
    words = (each for call in calls for each in ast.walk(call.args[1]))
    return {str(each.value) for each in words if isinstance(each, ast.Constant)}


@pytest.mark.parametrize("things", sorted(_counted()))
def test_one_thing_is_no_plural(things: str) -> None:
    """Of one thing the verdict speaks in the singular, of two in the plural."""
    assert "," not in things
    for times, words in ((1, single(things)), (2, things)):
        verdicts = Verdicts()
        verdicts.count("S2", things, times)
        (ruling,) = [each for each in verdicts.rulings() if each.number == "S2"]
        assert ruling.looked_at == f"{times} {words}"
    one, many = single(things).split(), things.split()
    assert [word for word in many if word not in one] != []
    assert len(one) == len(many)


def test_lines_of_a_cell_stand_between_commas_on_a_narrow_terminal() -> None:
    """Where a row becomes a sentence, what stood in lines of its own stands between commas."""
    row = {"": "S2", "verdict": "held", "looked at": "12 gated grants\n22 grants\n30 log clocks"}
    lines = [*block_lines(row, ("", "verdict", "looked at"), 80)]
    assert lines == ["S2", "    verdict held, looked at 12 gated grants, 22 grants, 30 log clocks"]
