"""docs/json.md is what the schema of all answers makes."""

from tools.json_page import PAGE, answer_schema, page_text


def test_up_to_date() -> None:
    """`python -m tools.json_page` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == page_text(answer_schema())
