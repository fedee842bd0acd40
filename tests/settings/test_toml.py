"""TOML is written so that it can be read back, and a key is found on its line."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.settings.toml_lines import key_lines
from fairlead.settings.toml_text import toml_key, toml_table, toml_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(st.dictionaries(TEXTS, VALUES))
def test_what_is_written_is_read_back(values: dict[str, Any]) -> None:
    """Whatever is written is read back as it was, under any key."""
    text = "".join(f"{toml_key(name)} = {toml_value(value)}\n" for name, value in values.items())
    assert tomllib.loads(text) == values


@given(st.lists(TEXTS, min_size=1))
def test_a_table_may_have_any_names(path: list[str]) -> None:
    """The header of a table may have any names in it."""
    found: Any = tomllib.loads(toml_table(tuple(path)))
    for name in path:
        found = found[name]
    assert found == {}


def test_a_null_is_refused() -> None:
    """What TOML does not have is refused."""
    with pytest.raises(TypeError, match="NoneType"):
        toml_value(None)


def test_each_key_is_found_on_its_line() -> None:
    """Each key and each table is found on the line where it begins."""
    text = (
        "# comment\n"
        "top = 1\n"
        "\n"
        "[a]\n"
        'x = """\n[b]\ny = 2\n"""\n'
        "list = [\n  1, # one\n  2,\n]\n"
        'in.line = { deep = "er" }\n'
        '[group."a.b"]\n'
        "lease_ms = 4 # [c]\n"
        "[[tables]]\n"
        "z = 1\n"
    )
    assert tomllib.loads(text)
    assert key_lines(text) == {
        ("top",): 2,
        ("a",): 4,
        ("a", "x"): 5,
        ("a", "list"): 9,
        ("a", "in"): 13,
        ("a", "in", "line"): 13,
        ("a", "in", "line", "deep"): 13,
        ("group",): 14,
        ("group", "a.b"): 14,
        ("group", "a.b", "lease_ms"): 15,
        ("tables",): 16,
        ("tables", "z"): 17,
    }
