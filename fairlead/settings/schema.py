"""The JSON Schema of a settings file, so that editors complete it and mark mistakes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from fairlead.settings.known_keys import known_keys
from fairlead.settings.layers import profile_layer
from fairlead.settings.sections import Settings
from fairlead.settings.values import GroupName

__all__ = ["DIALECT", "file_schema"]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def file_schema() -> dict[str, Any]:
    """Return the schema of a settings file, which may leave out anything.

    It has the meaning and default of each setting, but no secrets: no file may hold one.
    """
    schema = Settings.model_json_schema()
    for table in _objects(schema):
        # The layers below supply what a file leaves out.
        table.pop("required", None)
        for setting in table.get("properties", {}).values():
            setting.pop("title", None)
            # TOML has no null.
            if setting.get("default", ...) is None:
                setting.pop("default")
                _without_null(setting)
    for known in known_keys():
        if known.secret:
            _properties_of(schema, known.key[:-1]).pop(known.key[-1], None)
    schema["properties"]["group"]["propertyNames"] = TypeAdapter(GroupName).json_schema()
    _add_defaults(schema, profile_layer("default").values, ())
    return {
        "$schema": DIALECT,
        **schema,
        "title": "Settings of Fairlead",
        "description": "A file for --config, or a profile of conf/.",
    }


def _objects(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every object of the schema that describes a table."""
    for table in (schema, *schema["$defs"].values()):
        if isinstance(table, dict):
            yield table


def _without_null(setting: dict[str, Any]) -> None:
    kinds = [each for each in setting.get("anyOf", []) if each.get("type") != "null"]
    if len(kinds) == 1:
        del setting["anyOf"]
        setting.update(kinds[0])
    elif kinds:
        setting["anyOf"] = kinds


def _properties_of(schema: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return the properties of the table at this path."""
    table: Mapping[str, Any] = schema
    for name in path:
        reference = table["properties"][name]["$ref"].rpartition("/")[2]
        table = schema["$defs"][reference]
    properties: dict[str, Any] = table["properties"]
    return properties


def _add_defaults(
    schema: Mapping[str, Any], values: Mapping[str, Any], path: tuple[str, ...]
) -> None:
    properties = _properties_of(schema, path)
    for name, value in values.items():
        if isinstance(value, Mapping) and "$ref" in properties[name]:
            _add_defaults(schema, value, (*path, name))
        elif (*path, name) != ("group",):
            properties[name]["default"] = value
