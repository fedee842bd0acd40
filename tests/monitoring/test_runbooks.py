"""Each alert has a runbook, of one form; its commands are tried with those of all pages."""

import re
from pathlib import Path

import pytest

from tools.alerts import ALERTS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "runbooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")
SECTIONS = ["What users feel", "Look", "Mend", "Harmless, and false"]
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")
LOOKS = re.compile(r"^fairlead (\S+)", re.MULTILINE)


def _text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def test_every_alert_has_a_runbook() -> None:
    """No alert is without a runbook, and no runbook without an alert."""
    assert sorted(alert.name for alert in ALERTS) == NAMES
    for alert in ALERTS:
        assert (ROOT / alert.runbook).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_runbook_has_its_headings_in_order(name: str) -> None:
    """A runbook says first what the alert means, then the same four things, in this order."""
    title, *parts = re.split(r"^## (.+)\n", _text(name), flags=re.MULTILINE)
    assert title.startswith(f"# {name}\n\n")
    assert len(title.split()) > 12
    assert parts[::2] == SECTIONS
    assert all(part.strip() for part in parts[1::2])


@pytest.mark.parametrize("name", NAMES)
def test_looking_changes_nothing(name: str) -> None:
    """There is a command to look with, and none of them writes anything but a recording."""
    looking = _text(name).split("## Look")[1].split("## Mend")[0]
    assert LOOKS.findall(looking)
    for line in re.findall(r"^fairlead .+", looking, re.MULTILINE):
        assert not re.search(r"\b(set|unset|reset|pause|resume|drain|apply|release)\b", line)


@pytest.mark.parametrize("name", ["README", *NAMES])
def test_the_links_of_a_runbook_lead_somewhere(name: str) -> None:
    """A page that a runbook leads to is there."""
    for target in LINK.findall(_text(name)):
        assert (FOLDER / target).exists(), target


def test_the_runbook_knows_each_standing_alarm() -> None:
    """The runbook of standing alarms knows each alarm of the protocol that it may be fired by."""
    page = _text("GroupAlarm")
    (listed,) = re.findall(r"^Alarms: (.+)$", (ROOT / "docs/protocol.md").read_text(), re.MULTILINE)
    words = {*re.findall(r"`([a-z_]+)`", listed)} & {*re.findall(r"`([a-z]+_[a-z_]+)`", listed)}
    (expression,) = [alert.expression for alert in ALERTS if alert.name == "GroupAlarm"]
    (left_out,) = re.findall(r'alarm!~"([^"]+)"', expression)
    told = words - {*left_out.split("|")}
    assert len(told) > 8
    assert {word for word in told if f"`{word}`" not in page} == set()
