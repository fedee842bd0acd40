"""The access file: what it says, and how it refuses what it does not know."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.access.access_file import AccessFileError, parse_access_file
from fairlead.access.principals import Principal
from tests.access.access_files import made_token, principal_text

PATH = Path("access.toml")


def test_rights_are_for_globs_of_groups() -> None:
    """A right is for the groups of its globs, and each right is for itself."""
    text = principal_text("team", 'consume = ["orders*", "x"]', 'observe = ["*"]')
    team = parse_access_file(PATH, text).principals["team"]
    assert team.may("consume", "orders-7")
    assert team.may("consume", "x")
    assert not team.may("consume", "xy")
    assert not team.may("consume", "Orders")
    assert not team.may("consume", "*")
    assert team.may("observe", "*")
    assert team.may("observe", "anything")
    assert not team.may("operate", "orders")


@given(st.text("ab%|.*?[]!", min_size=1, max_size=8), st.text("ab%|.", min_size=1, max_size=8))
def test_the_right_to_all_groups_is_one_star(glob: str, group: str) -> None:
    """Only a star alone gives the right to all groups, and it gives each."""
    one = Principal("one", {"observe": (glob,)})
    assert one.may("observe", "*") == (glob == "*")
    assert Principal("all", {"observe": ("*",)}).may("observe", group)


@pytest.mark.parametrize(
    "lines, line, words",
    [
        ('consum = ["a"]', 3, "consum: unknown key The nearest known key is consume."),
        (
            "[principal.limits]\nsesions = 3",
            4,
            "sesions: unknown key The nearest known key is sess",
        ),
        ("[principal.token]\nid = 3", 3, "token: does not fit"),
        (
            '[[principal.token]]\nid = "a"\nxyz = "s"',
            5,
            "Known are id, salt, hash, created, expires, note.",
        ),
        ('consume = "orders"', 3, "consume: does not fit"),
        ('consume = ["a b"]', 3, "consume[0]: does not fit Give the name of a group"),
        ('subjects = ["nobody"]', 3, "subjects: 'nobody' does not fit Give a subject such as"),
        ('subjects = ["dns:"]', 3, "subjects: 'dns:' does not fit Give a name behind dns:"),
        ("[principal.limits]\nsessions = -1", 4, "sessions: does not fit"),
        ("[principal.limits]\nsessions = true", 4, "sessions: does not fit"),
        ("[[principal]]\nname = 'team'", 4, "the name 'team' stands twice"),
        ("[[principal]]\nobserve = ['*']", 3, "principal[1].name: is missing"),
    ],
)
def test_a_fault_has_its_line_and_a_remedy(lines: str, line: int, words: str) -> None:
    """A fault names the file, the line, the key and what to write instead."""
    with pytest.raises(AccessFileError) as refused:
        parse_access_file(PATH, f'[[principal]]\nname = "team"\n{lines}\n')
    assert f"access.toml:{line}: " in refused.value.message
    assert words in f"{refused.value.message} {refused.value.remedy}"


def test_every_fault_is_told_at_once() -> None:
    """The refusal of a file has all of its faults."""
    text = '[[principal]]\nname = "a"\nx = 1\ny = 2\n\n[other]\nz = 3\n'
    with pytest.raises(AccessFileError) as refused:
        parse_access_file(PATH, text)
    assert re.findall(r"access.toml:(\d+): ", refused.value.message) == ["3", "4", "6"]


def test_no_fault_repeats_a_secret() -> None:
    """What stands where a hash should be is not repeated: it may be the token itself."""
    token, record = made_token()
    text = principal_text("team", token=record).replace(record.hash, token)
    with pytest.raises(AccessFileError) as refused:
        parse_access_file(PATH, text)
    assert "hash: does not fit" in refused.value.message
    assert token not in str(refused.value)


@pytest.mark.parametrize("text", ["[[principal]\n", "name = \n", "a = 1\na = 2\n"])
def test_what_is_no_toml_is_refused(text: str) -> None:
    """A file that is no TOML is refused with its place."""
    with pytest.raises(AccessFileError, match=r"access.toml is no TOML \(.*line"):
        parse_access_file(PATH, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is named, with the command that makes one."""
    with pytest.raises(AccessFileError, match="fairlead token new"):
        parse_access_file(tmp_path / "none.toml")


def test_a_time_needs_its_zone() -> None:
    """A time without a zone is refused: nobody knows when it is."""
    _, record = made_token(60)
    text = principal_text("team", token=record).replace("+00:00", "")
    with pytest.raises(AccessFileError, match="created: does not fit"):
        parse_access_file(PATH, text)
