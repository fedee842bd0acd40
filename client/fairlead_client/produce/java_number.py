"""Java's int arithmetic and hash codes, on which RocketMQ's choices depend."""

from typing import Final

from fairlead_client.errors import SettingsError

INT_MIN: Final = -0x80000000
INT_MAX: Final = 0x7FFFFFFF


def as_int(number: int) -> int:
    """Return a whole number as Java's int holds it, wrapped to 32 bits with a sign."""
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def absolute(number: int) -> int:
    """Return Math.abs of an int; the least int stays negative."""
    return number if number == INT_MIN else abs(number)


def hash_code(value: object) -> int:
    """Return Java's hashCode of a String, for a text, or of an Integer or Long, for a number.

    Raises:
        SettingsError: the value is of another kind.

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
        raise SettingsError("arg", f"{value!r} has no Java hash code", "give a text or a number")
    if INT_MIN <= value <= INT_MAX:
        return value
    return as_int(value ^ ((value & 0xFFFFFFFFFFFFFFFF) >> 32))
