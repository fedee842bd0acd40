"""Merges the layers, and checks the values alone and together."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from fairlead.settings.contradictions import contradictions
from fairlead.settings.layers import (
    Layer,
    environment_layer,
    file_layer,
    override_layer,
    profile_layer,
)
from fairlead.settings.problems import Problem, SettingsError
from fairlead.settings.rules import GroupOverrides
from fairlead.settings.sections import Settings


def load_settings(
    *,
    profile: str | None = None,
    files: Sequence[Path] = (),
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings in force.

    Later wins: conf/default.toml, the profile, the files in their order, the environment, the
    overrides (dotted keys such as ``kafka.bootstrap``; a value of None means not given).

    Raises:
        SettingsError: with every problem found, each naming the key, its source and a remedy.
    """
    layers = [profile_layer("default")]
    if profile is not None:
        layers.append(profile_layer(profile))
    layers.extend(file_layer(path) for path in files)
    layers.append(environment_layer())
    layers.append(override_layer(overrides or {}))

    merged: dict[str, Any] = {}
    for layer in layers:
        merged = _merge(merged, layer.values)
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        raise SettingsError(_problems(error, layers)) from error
    found = [
        Problem(key, _origin(layers, key.split(".")), reason, remedy)
        for key, reason, remedy in contradictions(settings)
    ]
    if found:
        raise SettingsError(found)
    return settings


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one table over another; tables are merged, everything else is replaced."""
    merged = dict(below)
    for name, value in above.items():
        under = merged.get(name)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            merged[name] = _merge(under, value)
        else:
            merged[name] = value
    return merged


def _problems(error: ValidationError, layers: Sequence[Layer]) -> list[Problem]:
    """Turn what the models refuse into problems, one per key."""
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        path = [str(part) for part in detail["loc"]]
        if detail["type"] == "missing":
            reason, remedy = "is missing", "set it in a file and name that with --config"
        elif detail["type"] == "extra_forbidden":
            reason, remedy = "unknown key", f"the nearest known key is {_nearest(path)}"
        else:
            # A union of types adds the type it tried to the path; the key ends before it.
            while len(path) > 1 and not any(layer.has(path) for layer in layers):
                path.pop()
            reason = f"{detail['input']!r} does not fit"
            remedy = detail["msg"].removeprefix("Value error, ")
        key = ".".join(path)
        problems.setdefault(key, Problem(key, _origin(layers, path), reason, remedy))
    return list(problems.values())


def _origin(layers: Sequence[Layer], path: Sequence[str]) -> str:
    """Return the source of the layer that won for this key, or of its nearest table that is set."""
    for length in range(len(path), 0, -1):
        for layer in reversed(layers):
            if layer.has(path[:length]):
                return layer.source
    return layers[0].source


def _nearest(path: Sequence[str]) -> str:
    """Return the known key that an unknown one most likely means.

    The same name in another section comes first (``kafka.tick_ms``: ``engine.tick_ms``), then the
    most similar name beside it.
    """
    *sections, name = path
    for section, field in Settings.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields:
            return f"{section}.{name}"
    beside = _model_at(sections).model_fields
    nearest = difflib.get_close_matches(name, beside, n=1, cutoff=0.0)[0]
    return ".".join([*sections, nearest])


def _model_at(sections: Sequence[str]) -> type[BaseModel]:
    """Return the model of the table at this path."""
    if sections[:1] == ["group"]:
        return GroupOverrides
    model: type[BaseModel] = Settings
    for section in sections:
        annotation = model.model_fields[section].annotation
        assert isinstance(annotation, type)
        assert issubclass(annotation, BaseModel)
        model = annotation
    return model
