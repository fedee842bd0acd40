"""Whoever drops a rule of the handover is caught by a search, a simulation or a story."""

import pytest
from fairlead_proof.explorer.rows import ROWS, Rows

from tests.mutants.hunt import hunt, unpatched
from tests.mutants.mutant import Mutant, catalogue
from tests.mutants.tree import Tree

pytestmark = pytest.mark.xdist_group("mutants")

MUTANTS = catalogue()
QUICK = MUTANTS[::3]
"""Those of `make test`."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Return a copy of the source in which mutants take its place."""
    return Tree.of_source(tmp_path_factory.mktemp("source"))


@pytest.mark.parametrize(
    "mutant",
    [
        mutant if mutant in QUICK else pytest.param(mutant, marks=pytest.mark.slow)
        for mutant in MUTANTS
    ],
    ids=lambda mutant: mutant.name,
)
def test_the_first_hunter_catches_each_mutant(tree: Tree, mutant: Mutant) -> None:
    """The first who looks finds a violation that the dropped rule leads to."""
    verdict = hunt(mutant, tree, every=False)
    assert verdict.mistake is None
    assert verdict.caught, verdict.catches


# Several searches, each in a process of its own.
@pytest.mark.timeout(300)
def test_the_source_as_it_is_violates_nothing(tree: Tree) -> None:
    """Where they are found, nothing is violated as long as no rule is dropped."""
    # The tests of the explorer search the small worlds, seven of them in `make test-long` alone.
    catches = unpatched(QUICK, tree, every=False, searched=ROWS[Rows.SMALL])
    found = [catch for catch in catches if catch.violation is not None]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_everyone_who_can_see_a_mutant_does(tree: Tree, mutant: Mutant) -> None:
    """Everyone who can see that a rule is gone does see it."""
    verdict = hunt(mutant, tree, every=True)
    assert verdict.mistake is None
    assert [catch for catch in verdict.catches if catch.violation is None] == []


@pytest.mark.slow
def test_the_source_itself_for_everyone(tree: Tree) -> None:
    """Nobody sees anything as long as no rule is dropped."""
    found = [catch for catch in unpatched(MUTANTS, tree) if catch.violation is not None]
    assert found == []
