"""docs/conformance.md shows one case of every kind, and the answer that it gets."""

import json
import re
from pathlib import Path

from fairlead_proof.conformance.kinds import KINDS
from fairlead_proof.conformance.lines import answer_lines

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"


def test_the_page_is_right() -> None:
    """Each case of the page, sent as it stands there, gets the answer below it."""
    (block,) = re.findall(r"```jsonl\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = block.encode().splitlines()
    answered = [line.text for line in answer_lines(lines[::2])]
    assert [json.loads(text) for text in answered] == [json.loads(text) for text in lines[1::2]]
    shown = set(re.findall(rb'"kind":"([a-z_]+)"', b"".join(lines)))
    assert shown == {kind.encode() for kind in KINDS}
