"""Words that do not go together, and files that are something else, are named with what helps."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import UsageError

SAVED = "Give the file that `fairlead plan … --save` wrote"


def _refused(*words: str) -> UsageError:
    ended = CliRunner().invoke(app, words)
    assert isinstance(ended.exception, UsageError), ended.output
    return ended.exception


@pytest.mark.parametrize(
    "words, said, helps",
    [
        (("group", "check"), "GROUP: the check needs one group, or --all.", "Name a group"),
        (
            ("group", "check", "orders", "--all"),
            "--all: it means every group, and orders is named too.",
            "Leave --all or the name of the group out.",
        ),
        (("plan",), "plan: it needs one group.", "Name a live group"),
        (
            ("plan", "orders", "--file", "plan.json"),
            "--file: the group is that of the file, and orders is named too.",
            "Leave --file or the name of the group out.",
        ),
        (
            ("watch", "orders", "--dump", "folder", "-o", "json"),
            "--output: watch writes one decision after the other, and no single JSON document.",
            "Give -o jsonl",
        ),
    ],
)
def test_words_that_do_not_go_together(words: tuple[str, ...], said: str, helps: str) -> None:
    """The error says which words do not go together, none and two groups among them."""
    refused = _refused(*words)
    assert refused.message == said
    assert (refused.remedy or "").startswith(helps)


@pytest.mark.parametrize("words", [("apply",), ("plan", "--file")])
@pytest.mark.parametrize("text", ["moves: 3", "[]", '{"group": "orders"}'])
def test_a_file_that_is_no_plan_is_named(words: tuple[str, ...], text: str, tmp_path: Path) -> None:
    """The error names the file and what should be in it, whatever else stands there."""
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    refused = _refused(*words, str(path))
    assert str(path) in refused.message
    assert (refused.remedy or "").startswith(SAVED)
