"""Heads of requests that are refused before anybody looks at their paths."""

import gc

import pytest
from httptools import HttpRequestParser

from fairlead.http.heads import HeadError, read_head


@pytest.mark.parametrize("letter", ["%0A", "%0d", "%00", "%1F", "%7f", "%09"])
@pytest.mark.parametrize("path", ["/metrics{}", "/v1/groups/a{}b", "/{}"])
def test_a_control_character_in_a_path_is_refused(letter: str, path: str) -> None:
    """Two readers of one path could take it for two paths: the one that is guarded, and another."""
    target = path.format(letter)
    with pytest.raises(HeadError):
        read_head(f"GET {target} HTTP/1.1\r\nhost: here\r\n\r\n".encode())


def test_other_letters_are_decoded_once() -> None:
    """A space and a letter beyond ASCII are parts of paths like others."""
    head = read_head(b"GET /a%20b/%C3%A4%2541 HTTP/1.1\r\nhost: here\r\n\r\n")
    assert head.path == "/a b/\N{LATIN SMALL LETTER A WITH DIAERESIS}%41"


def test_a_head_leaves_no_garbage_behind() -> None:
    """What only the collector can free is freed while all requests wait, a fifth of a second."""
    gc.collect()
    gc.disable()
    try:
        read_head(b"GET /metrics HTTP/1.1\r\nhost: here\r\n\r\n")
        with pytest.raises(HeadError):
            read_head(b"GET /metrics HTTP/1.1\r\nhost here\r\n\r\n")
        left = [each for each in gc.get_objects() if isinstance(each, HttpRequestParser)]
    finally:
        gc.enable()
    assert left == []
