"""JSON as strangers write it: valid, odd, nearly valid; for searches over random texts."""

import json
from typing import Any

from hypothesis import strategies as st

_NAMES = st.sampled_from(["v", "kind", "group", "a", "b:", "", "é", '"', "\\", "\ud83d\ude00"])
_NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**64) - 2, 2**64 + 2),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30]),
)
_RAW_NUMBERS = st.sampled_from(
    ["-0", "0.0", "-0.0", "1e2", "1E+2", "5.0", "1e400", "NaN", "Infinity", "-Infinity", "01", "1.",
     ".5", "+1", "9" * 25, "1" * 5000, "0x1", "9007199254740993.0"]
)  # fmt: skip
_TEXTS = st.one_of(st.text(max_size=5), st.sampled_from([":", '","', "\\u0041", "1.5", "\x7f"]))


@st.composite
def _text(draw: st.DrawFn) -> str:
    """Return a JSON text, escaped or not; now and then with half a surrogate pair."""
    text = draw(st.one_of(_TEXTS, _NAMES)).encode("utf-8", "replace").decode()
    written = json.dumps(text, ensure_ascii=draw(st.booleans()))
    if draw(st.integers(0, 30)) == 0:
        written = (
            written[:-1] + draw(st.sampled_from(["\\ud800", "\\udc00", "\\u0000", "\n"])) + '"'
        )
    return written


def _spaces() -> st.SearchStrategy[str]:
    return st.sampled_from(["", "", "", " ", "\n", "\t "])


@st.composite
def _array(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    space = draw(_spaces())
    entries = draw(st.lists(values, max_size=4))
    return "[" + space + ("," + space).join(entries) + space + "]"


@st.composite
def _object(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    space = draw(_spaces())
    names = draw(st.lists(_text(), max_size=4))
    members = [f"{name}{space}:{space}{draw(values)}" for name in names]
    return "{" + space + ("," + space).join(members) + "}"


def _values() -> st.SearchStrategy[str]:
    plain = st.one_of(
        _text(), _NUMBERS.map(str), _RAW_NUMBERS, st.sampled_from(["true", "false", "null"])
    )
    return st.recursive(plain, lambda inner: st.one_of(_array(inner), _object(inner)), max_leaves=8)


@st.composite
def _nested(draw: st.DrawFn) -> str:
    """Return an object with a value some levels down, around the limit of levels."""
    depth = draw(st.integers(0, 20))
    inner = draw(_values())
    return '{"a":' + "[" * depth + inner + "]" * depth + "}"


@st.composite
def _damaged(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """Return a text as bytes with one byte changed, added or taken away."""
    value = draw(texts).encode("utf-8", "replace")
    at = draw(st.integers(0, len(value)))
    return value[:at] + draw(st.binary(max_size=2)) + value[at + draw(st.integers(0, 2)) :]


def json_bytes() -> st.SearchStrategy[bytes]:
    """Return a search over bytes that are JSON, or nearly so."""
    texts = st.one_of(_values(), _object(_values()), _nested())
    whole = texts.map(lambda text: text.encode("utf-8", "replace"))
    return st.one_of(whole, _damaged(texts), st.binary(max_size=40))


def any_value() -> st.SearchStrategy[Any]:
    """Return a search over plain values that orjson can write."""
    scalars: st.SearchStrategy[Any] = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    )
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3
            ),
        ),
        max_leaves=6,
    )
