"""Every patch fits the present source, and the page tells of every mutant."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.mutants.mutant import Edit, Mutant, PatchError, catalogue, patched
from tests.mutants.tree import ROOT

PAGE = ROOT / "docs" / "mutants.md"
NUMBERED = re.compile(r"^- \*\*(H\d+)\*\* |^\| (C\d+) \| ", re.MULTILINE)
VARIANTS = {
    7: "b",
    10: "bc",
    15: "b",
    17: "b",
    22: "b",
    25: "bc",
    31: "b",
    36: "b",
    37: "b",
    40: "bcd",
}
MUTANTS = catalogue()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_patch_fits_its_source_once(mutant: Mutant) -> None:
    """What a patch replaces stands in the source once, and what it makes of it is Python."""
    changed = patched(ROOT, mutant.edits)
    assert changed
    for path, text in changed.items():
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(path.read_text(encoding="utf-8")))
        assert path.is_relative_to(ROOT / "fairlead") or path.is_relative_to(ROOT / "client")


@pytest.mark.parametrize("times", [0, 2])
def test_patch_that_does_not_fit(tmp_path: Path, times: int) -> None:
    """A text that has gone, or stands there twice, is an error that names the file."""
    (tmp_path / "module.py").write_text("old()\n" * times, encoding="utf-8")
    with pytest.raises(PatchError, match=rf"module\.py has {times} times"):
        patched(tmp_path, [Edit("module.py", "old()\n", "new()\n")])


def test_two_edits_of_one_file(tmp_path: Path) -> None:
    """A later edit sees what an earlier one has made."""
    (tmp_path / "module.py").write_text("first\nsecond\n", encoding="utf-8")
    edits = [Edit("module.py", "first\n", "1\n"), Edit("module.py", "second\n", "2\n")]
    assert patched(tmp_path, edits) == {tmp_path / "module.py": "1\n2\n"}


def test_nobody_is_missing() -> None:
    """The catalogue has every number, with its variants."""
    wanted = {
        f"M{number}{letter}"
        for number in range(1, 42)
        for letter in ("", *VARIANTS.get(number, ""))
    }
    assert {mutant.name for mutant in MUTANTS} == wanted
    assert len(MUTANTS) == len(wanted)


def test_rules_are_stated() -> None:
    """Each mutant drops a rule that a page states, and somebody looks for it."""
    pages = [(ROOT / "docs" / name).read_text("utf-8") for name in ("handover.md", "protocol.md")]
    stated = {first or second for page in pages for first, second in NUMBERED.findall(page)}
    assert {mutant.name for mutant in MUTANTS if mutant.rule not in stated} == set()
    assert {
        mutant.name for mutant in MUTANTS if not (mutant.world or mutant.stories or mutant.seeds)
    } == set()


def test_the_page_has_the_table_of_the_catalogue() -> None:
    """The table of the page is the catalogue's."""
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| M")]
    assert rows == [row_of(mutant) for mutant in MUTANTS]


def row_of(mutant: Mutant) -> str:
    """Return the page's row of a mutant."""
    found = [
        *([f"explorer, {_bounds(mutant.world)}"] if mutant.world is not None else []),
        *(["stories"] if mutant.stories else []),
        *(["simulator"] if mutant.seeds else []),
    ]
    return f"| {mutant.name} | {mutant.rule} | {mutant.drops} | {'; '.join(found)} |"


def _bounds(world: Mapping[str, object]) -> str:
    words = [f"{world['clients']} clients", f"{world['moves']}/{world.get('deaths', 0)}"]
    words[1] += f"/{world.get('losses', 0)}"
    if world.get("cap", 2) != 2:
        words.append(f"cap {world['cap']}")
    words += [str(world[name]) for name in ("restart",) if name in world]
    words += [name for name in ("comebacks", "resets", "zombie") if world.get(name)]
    return " ".join(words)
