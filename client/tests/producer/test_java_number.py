"""Java's int arithmetic and hash codes."""

import pytest
from fairlead_client.errors import SettingsError
from fairlead_client.produce.java_number import INT_MAX, INT_MIN, absolute, as_int, hash_code


@pytest.mark.parametrize(
    "number, held",
    [(0, 0), (INT_MAX, INT_MAX), (INT_MAX + 1, INT_MIN), (INT_MIN - 1, INT_MAX), (-1, -1)],
)
def test_a_number_beyond_32_bits_wraps(number: int, held: int) -> None:
    """A number beyond 32 bits runs over to the other sign."""
    assert as_int(number) == held


def test_the_least_int_has_no_positive_counterpart() -> None:
    """The least int has no positive counterpart."""
    assert [absolute(number) for number in (-5, 5, INT_MIN)] == [5, 5, INT_MIN]


@pytest.mark.parametrize(
    "value, code",
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        # The text whose hash code is the least int.
        ("polygenelubricants", INT_MIN),
        # Two units of UTF-16 for one character.
        ("\U0001f600", 0xD83D * 31 + 0xDE00),
        (7, 7),
        (-7, -7),
        (1 << 32, 1),
        (-(1 << 40), as_int(-(1 << 40) ^ (((1 << 64) - (1 << 40)) >> 32))),
    ],
)
def test_texts_and_numbers_have_the_hash_codes_of_java(value: str | int, code: int) -> None:
    """Texts and whole numbers have the hash codes that Java gives them."""
    assert hash_code(value) == code


@pytest.mark.parametrize("value", [True, 1.5, None, b"x", 1 << 63])
def test_what_java_would_not_hash_is_refused(value: object) -> None:
    """What Java would hash differently, or not at all, is refused."""
    with pytest.raises(SettingsError, match="give a text or a number"):
        hash_code(value)
