"""Whole stories as golden transcripts: a script and everything the core answers.

``REWRITE_GOLDEN=1 pytest tests/core/test_stories.py`` writes the present answers; commit them only
if every line of the difference is understood.
"""

import os
from pathlib import Path

import pytest

from tests.core.transcript import replay

GOLDEN = Path(__file__).parent.parent / "golden"
STORIES = sorted(GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_the_core_answers_a_story_as_its_transcript_says(story: Path) -> None:
    """The core answers a story as its transcript says."""
    script = story.read_text()
    told = replay(script)
    if os.environ.get("REWRITE_GOLDEN"):
        story.write_text(told)
    assert told == script


def test_there_are_stories() -> None:
    """An empty folder of stories is a mistake, not a success."""
    assert len(STORIES) >= 10
