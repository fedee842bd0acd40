"""The words of the console: the same ones in each language, and all that the pages ask for."""

import json
import re
from typing import Final

import pytest

from fairlead.history.cause_words import chief_trigger
from fairlead.observed.phase_words import ALARMS, PHASES
from tests.console.page_files import PAGES, ROOT, own_files

LANGUAGES: Final = ("en", "zh")
PLACES: Final = re.compile(r"\{(\w+)\}")
ASKED: Final = re.compile(r"""\bt\(\s*"([\w.-]+)\"""")

Words = dict[str, str | dict[str, str]]


def words_of(language: str) -> Words:
    """Return the words of a language; their file is JSON but for comments and bare keys."""
    text = (PAGES / "words" / f"{language}.js").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    body = "\n".join(lines).strip().removeprefix("export default").removesuffix(";")
    body = re.sub(r"(?<=[{,\s])(zero|one|two|few|many|other): (?=\")", r'"\1": ', body)
    words: Words = json.loads(re.sub(r",(\s*\})", r"\1", body))
    return words


def forms(word: str | dict[str, str]) -> list[str]:
    """Return the texts of a word: one, or one for each plural."""
    return [word] if isinstance(word, str) else list(word.values())


def test_each_language_has_the_same_words() -> None:
    """No word is missing in a language, none is left over."""
    english, chinese = (words_of(language) for language in LANGUAGES)
    assert len(english) > 150
    assert sorted(english) == sorted(chinese)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_stands_once(language: str) -> None:
    """No later line takes the place of an earlier one."""
    text = (PAGES / "words" / f"{language}.js").read_text(encoding="utf-8")
    keys = re.findall(r'^  "([^"]+)":', text, re.MULTILINE)
    assert len(keys) == len(set(keys))


def test_each_language_fills_the_same_places() -> None:
    """A translation says each name and number that the English text says."""
    english, chinese = (words_of(language) for language in LANGUAGES)

    def places(word: str | dict[str, str]) -> set[str]:
        return {place for form in forms(word) for place in PLACES.findall(form)} - {"n"}

    wrong = [key for key, word in english.items() if places(word) != places(chinese[key])]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_plural_has_the_form_of_all_others(language: str) -> None:
    """Each word with plurals has the form that is taken when no other fits."""
    plurals = {key: word for key, word in words_of(language).items() if isinstance(word, dict)}
    assert [key for key, word in plurals.items() if "other" not in word] == []


def test_every_word_that_a_page_asks_for_is_there() -> None:
    """A page shows words, never the key of one."""
    known = words_of("en")
    asked = {
        (path.name, key)
        for path in own_files(".js")
        for key in ASKED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(asked) > 60
    assert sorted(f"{name}: {key}" for name, key in asked if key not in known) == []


def test_every_phase_has_words() -> None:
    """Each phase of a group is said in the reader's language, with what it means."""
    known = words_of("en")
    assert [each for each in PHASES if f"phase.{each}" not in known] == []
    assert [each for each in PHASES if f"phase.{each}_says" not in known] == []


def test_every_alarm_and_problem_has_words() -> None:
    """Each alarm, and each problem of the page on groups, is said in the reader's language."""
    page = (ROOT / "docs" / "groups.md").read_text(encoding="utf-8")
    table = page.partition("| problem | what it says |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.MULTILINE)
    problems = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    assert len(problems) > 20
    known = words_of("en")
    assert sorted(each for each in {*problems, *ALARMS} if f"finding.{each}" not in known) == []


def test_every_trigger_has_words() -> None:
    """Each trigger of the protocol is said in the reader's language."""
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    listed = page.partition("`triggers` and the `kind` of a cause are words of this list:")[2]
    line = re.sub(r"\([^)]*\)", "", listed.strip().partition("\n")[0])
    triggers = re.findall(r"`(\w+)`", line)
    assert len(triggers) > 25
    assert chief_trigger(triggers) in triggers
    known = words_of("en")
    assert [each for each in triggers if f"trigger.{each}" not in known] == []


def test_only_the_words_are_chinese() -> None:
    """A text in one language stands in the file of its language, but for units of time."""
    chinese = re.compile(r"[\u4e00-\u9fff]")
    found = [path.name for path in own_files(".js") if chinese.search(path.read_text("utf-8"))]
    assert sorted(found) == ["format.js", "words.js", "zh.js"]


def test_words_are_read_from_their_file() -> None:
    """The reader of this test takes plurals, comments and a last comma."""
    assert forms(words_of("en")["groups.count"]) == ["group", "groups"]
