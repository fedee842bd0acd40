"""Each setting is explained once, in the code; what is made of it says the same."""

import re
import tomllib
from pathlib import Path

import pytest

from fairlead.conf_folder import conf_directory
from fairlead.settings import load_settings
from fairlead.settings.known_keys import ANY_GROUP, known_keys, path_of, sections
from fairlead.settings.pages import configuration_page, written_pages
from fairlead.settings.sections import Settings

REMEDY = "run: python -m fairlead.settings.pages"


@pytest.mark.parametrize("path", list(written_pages()), ids=lambda path: path.name)
def test_the_written_pages_are_what_the_models_say(path: Path) -> None:
    """conf/default.toml and docs/configuration.md are what the models say."""
    assert path.read_text(encoding="utf-8") == written_pages()[path], REMEDY


def test_everything_is_explained() -> None:
    """Every setting has a meaning that is a sentence, and every table says what it is about."""
    assert [known.dotted for known in known_keys() if not known.meaning.endswith(".")] == []
    assert [table for table, about in sections().items() if not about] == []
    assert len(known_keys()) > 60


def test_every_key_is_known() -> None:
    """The list has each key that the settings have, and no other."""

    def keys(table: dict[str, object], above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
        found = set()
        for name, value in table.items():
            inner = (*above, name)
            is_table = isinstance(value, dict) and (inner in sections() or not above)
            found |= keys(value, inner) if is_table else {inner}  # type: ignore[arg-type]
        return found

    listed = {known.key for known in known_keys() if ANY_GROUP not in known.key}
    assert keys(load_settings().model_dump()) == listed


def test_a_number_has_its_unit_in_its_name() -> None:
    """A number has its unit in its name, or is a count of what its name says."""
    counted = (
        r".*(partitions|factor|groups|per_trigger|per_second|members|topics|queues|port"
        r"|connections|kept|failures|sessions|streams|at_once)$"
    )
    numbers = [known for known in known_keys() if re.match(r"-?\d", known.kind)]
    assert len(numbers) > 20
    bare = [known.dotted for known in numbers if known.unit is None]
    assert [name for name in bare if not re.match(counted, name)] == []


def test_the_page_has_a_row_for_each_setting() -> None:
    """The page has a row for each setting, with the variable that sets it and its default."""
    page = configuration_page()
    for known in known_keys():
        if ANY_GROUP not in known.key:
            assert f"| `{known.key[-1]}` | " in page
        if known.variable is not None:
            assert f"`{known.variable}`" in page
    assert "| `lease_ms` | 1,000 to 600,000 | milliseconds | `15000` |" in page


def test_examples_can_be_used(tmp_path: Path) -> None:
    """What stands in conf/default.toml as a comment is TOML, and fits."""
    text = (conf_directory() / "default.toml").read_text(encoding="utf-8")
    shown = re.sub(r'^# (?=["\w.]+ = |\[group)', "", text, flags=re.MULTILINE)
    shown = shown.replace('"PLAINTEXT"', '"SASL_SSL"')
    path = tmp_path / "shown.toml"
    path.write_text(shown, encoding="utf-8")
    settings = load_settings(files=[path])
    assert settings.kafka.connection.metadata_max_age_ms == 60_000
    assert settings.group["orders"].designated is not None
    assert tomllib.loads(shown) != tomllib.loads(text)


@pytest.mark.parametrize(
    "dotted, path",
    [
        ("kafka.bootstrap", ("kafka", "bootstrap")),
        ("group.orders.lease_ms", ("group", "orders", "lease_ms")),
        ("group.%RETRY%a.b.lease_ms", ("group", "%RETRY%a.b", "lease_ms")),
        ("group.a.b.weighing.over_ms", ("group", "a.b", "weighing", "over_ms")),
        ("group.a.b", ("group", "a.b")),
        ("group.a.b.designated.only", ("group", "a.b", "designated", "only")),
        ("group", ("group",)),
    ],
)
def test_a_dotted_key_may_name_a_group_with_dots(dotted: str, path: tuple[str, ...]) -> None:
    """The name of a group in a dotted key may have dots itself."""
    assert path_of(dotted) == path


def test_models_are_all_there() -> None:
    """Every table of the models is a section of the page."""
    page = configuration_page()
    for name in Settings.model_fields:
        assert f"### [{name}" in page
