"""An event whose log lines are rate-limited is one that the product still logs."""

import pytest

from fairlead.logs.tidying import REPEATING
from tests.tidy.source_tree import ROOT

SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for room in ("fairlead", "streaming")
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.name != "tidying.py"
)


@pytest.mark.parametrize("event", sorted(REPEATING))
def test_a_rate_limited_event_is_logged_somewhere(event: str) -> None:
    """Its text stands in the product, so a changed line does not lose its limit in silence."""
    assert f'"{event}"' in SOURCES
