"""The file with the gateways' key."""

from pathlib import Path

import pytest

from fairlead.errors import EnvironmentMissingError
from fairlead.gateway.key_file import read_key


@pytest.mark.parametrize("edge", [b"\n", b"\r", b" ", b"\t", b"\x0b", b"\x0c"])
def test_random_bytes_are_a_key_whatever_they_are(tmp_path: Path, edge: bytes) -> None:
    """32 random bytes are a key, also where one at their end looks like a blank."""
    file = tmp_path / "gateway.key"
    for content in (edge + b"k" * 31, b"k" * 31 + edge):
        file.write_bytes(content)
        assert read_key(str(file)) == content


def test_a_line_is_a_key_without_its_end(tmp_path: Path) -> None:
    """A key that was written as a line is the same with and without the line's end."""
    file = tmp_path / "gateway.key"
    file.write_bytes(b"a1" * 32 + b"\n")
    assert read_key(str(file)) == b"a1" * 32


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    """31 bytes are no key, with a line's end or without."""
    file = tmp_path / "gateway.key"
    for content in (b"k" * 31, b"k" * 31 + b"\r\n"):
        file.write_bytes(content)
        with pytest.raises(EnvironmentMissingError):
            read_key(str(file))
