"""Java's numbers where RocketMQ's choice depends on them: int arithmetic and hash codes."""

from typing import Final

from fairlead_client.errors import SettingsError

INT_MIN: Final = -0x80000000
INT_MAX: Final = 0x7FFFFFFF


def as_int(number: int) -> int:
    """Return a whole number as Java's int holds it, wrapped to 32 bits with a sign."""
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def absolute(number: int) -> int:
    """Return Math.abs of an int: that of the least one is itself, negative."""
    return number if number == INT_MIN else abs(number)


def hash_code(value: object) -> int:
    """Return what Java's hashCode gives: of a text that of String, of a number Integer or Long.

    Raises:
        SettingsError: a value of another kind, whose hash code would differ between languages.

    >>> hash_code("order-17"), hash_code(7)
    (1234571893, 7)
    """
    if isinstance(value, str):
        code = 0
        units = value.encode("utf-16-be", "surrogatepass")
        for at in range(0, len(units), 2):
            code = (31 * code + (units[at] << 8) + units[at + 1]) & 0xFFFFFFFF
        return as_int(code)
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise SettingsError("arg", f"{value!r} has no hash code of Java", "give a text or a number")
    if INT_MIN <= value <= INT_MAX:
        return value
    return as_int(value ^ ((value & 0xFFFFFFFFFFFFFFFF) >> 32))
