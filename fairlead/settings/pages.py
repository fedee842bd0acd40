"""Writes the comments of conf/default.toml, and docs/configuration.md, from the models.

Run it in a checkout after a change of a setting: python -m fairlead.settings.pages
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fairlead.conf_folder import conf_directory, profiles
from fairlead.settings.default_file import default_file
from fairlead.settings.kafka_options import TRANSLATIONS
from fairlead.settings.known_keys import ANY_GROUP, KnownKey, known_keys, sections
from fairlead.settings.layers import profile_layer
from fairlead.settings.toml_lines import Key
from fairlead.settings.toml_text import toml_value

__all__ = ["configuration_page", "written_pages"]

_HEAD: Final = """\
# Configuration

`python -m fairlead.settings.pages` writes this page from `fairlead/settings`; a test compares them.

## Where settings come from

Later wins: [conf/default.toml](../conf/default.toml), a profile of `conf/` (`--profile`), files
(`--config`, in their order), environment variables, flags. A file need only name what it changes.
Fairlead guesses nothing: it refuses an unknown key and names the nearest known one, refuses a wrong
value and says what would fit, and lists every mistake at once, with its line.

```
fairlead config check my.toml          # every error and every warning; exit code 2: errors
fairlead config show --config my.toml  # every value that is not the default, and its source
fairlead config show --resolved        # every value; --section kafka.security, -o json, -o toml
fairlead config schema                 # for editors: JSON Schema 2020-12
fairlead config kafka                  # the options that kafka-python and Spark's library get
```

Durations are milliseconds and end in `_ms`; sizes end in `_bytes`. In the environment a list or a
table is JSON: `FAIRLEAD__SERVE__QUEUE_SERIES='["orders"]'`. Rules of single groups, Spark's own
settings and options of a strategy have free names, which no variable can spell: put them in
files.

Put **secrets** in files of their own, which a setting names, or in an environment variable.
Fairlead refuses them in a settings file, in a profile or as a flag, and always shows them as stars.

**Profiles**: {profiles}.

Three variables are no settings, because Fairlead needs them before it reads settings:
`FAIRLEAD_JAVA` (the `java` to use; else `JAVA_HOME`, else the one on the `PATH`), `FAIRLEAD_CACHE`
(the folder of jars and archives), `FAIRLEAD_IVY_SETTINGS` (an Ivy settings file, for a mirror of
the jars).

## Every setting
"""
_KAFKA: Final = """\
## One block for both Kafka libraries

`[kafka]` has every option that you may set. Both libraries get the same: kafka-python, which the
driver, bridges, commands and `fairlead serve` use (an application gives its client `kafka=`), and
the Java library in Spark's source and sink. Fairlead refuses any other option with the reason: it
names code to load (`sasl.jaas.config`, `*.callback.handler.class`, `interceptor.classes`) or an
address to fetch keys from (`sasl.oauthbearer.*`), or Fairlead's promises depend on it (`acks`,
`isolation.level`).

| setting | kafka-python | Java |
|---|---|---|
"""


def configuration_page() -> str:
    """Return docs/configuration.md."""
    text = _HEAD.replace("{profiles}", ", ".join(f"`{name}`" for name in profiles()))
    defaults = profile_layer("default").values
    for table, about in sections().items():
        text += f"\n### [{'.'.join(table)}]\n\n{about}\n"
        rows = list(_rows(table, defaults))
        if table == ("group", ANY_GROUP):
            text += (
                "\nIts keys are those of `[group_defaults]`, `[group_defaults.weighing]` and "
                "`[group_defaults.quota]`, and:\n"
            )
            rows = [row for row in rows if row.startswith("| `designated` ")]
        if ANY_GROUP not in table or len(table) == len(("group", ANY_GROUP)):
            text += "\n| key | type and bounds | unit | default | environment | meaning |\n"
            text += "|---|---|---|---|---|---|\n" + "".join(f"{row}\n" for row in rows)
    for nested in ("weighing", "quota"):
        text = text.replace(_nested_group(nested), "")
    return text + "\n" + _KAFKA + "".join(_kafka_rows())


def written_pages() -> dict[Path, str]:
    """Return the text of each generated file of the checkout."""
    conf = conf_directory()
    values = tomllib.loads((conf / "default.toml").read_text(encoding="utf-8"))
    return {
        conf / "default.toml": default_file(values),
        conf.parent / "docs" / "configuration.md": configuration_page(),
    }


def _nested_group(name: str) -> str:
    """Return the section of a group's own table, which repeats one of `[group_defaults]`."""
    table = ("group", ANY_GROUP, name)
    return f"\n### [{'.'.join(table)}]\n\n{sections()[table]}\n"


def _rows(table: Key, defaults: Mapping[str, Any]) -> Iterator[str]:
    for known in known_keys():
        if known.key[:-1] == table:
            cells = (
                f"`{known.key[-1]}`",
                known.kind,
                known.unit or "–",
                _default(known, defaults),
                f"`{known.variable}`" if known.variable else "in files only",
                known.meaning,
            )
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(known: KnownKey, defaults: Mapping[str, Any]) -> str:
    value: Any = defaults
    for name in known.key:
        value = value.get(name) if isinstance(value, Mapping) else None
    return "–" if value is None else f"`{toml_value(value)}`"


def _kafka_rows() -> Iterator[str]:
    for translation in TRANSLATIONS:
        library, java = (
            ", ".join(f"`{name}`" for name in names)
            for names in (translation.library, translation.java)
        )
        yield f"| `{translation.key}` | {library} | {java} |\n"


if __name__ == "__main__":
    for path, text in written_pages().items():
        path.write_text(text, encoding="utf-8")
