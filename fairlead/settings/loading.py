"""Merges the layers, and checks values alone and together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fairlead.settings.contradictions import contradictions
from fairlead.settings.fitting import fitting_words, given_words
from fairlead.settings.kafka_refusals import refusal_of
from fairlead.settings.known_keys import known_keys, path_of
from fairlead.settings.layers import (
    Kind,
    Layer,
    environment_layer,
    file_layer,
    override_layer,
    profile_layer,
)
from fairlead.settings.problems import Problem, SettingsError
from fairlead.settings.sections import Settings
from fairlead.settings.suggestions import nearest_key, suggestion_for


@dataclass(frozen=True, slots=True)
class Examination:
    """The result of reading and checking all sources.

    Attributes:
        layers: the readable sources; a later one wins.
        settings: the settings in force; None if anything is wrong.
        problems: everything that is wrong.
    """

    layers: tuple[Layer, ...]
    settings: Settings | None
    problems: tuple[Problem, ...]


def load_settings(
    *,
    profile: str | None = None,
    files: Sequence[Path] = (),
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings in force.

    Later wins: conf/default.toml, the profile, the files in their order, the environment, the
    overrides (dotted keys such as ``kafka.bootstrap``; a value of None means absent).

    Raises:
        SettingsError: with every problem; each names the key, its source and a remedy.
    """
    examination = examine(profile=profile, files=files, overrides=overrides)
    if examination.settings is None:
        raise SettingsError(examination.problems)
    return examination.settings


def examine(
    *,
    profile: str | None = None,
    files: Sequence[Path] = (),
    overrides: Mapping[str, Any] | None = None,
) -> Examination:
    """Read and check all sources, and return both the settings and every problem.

    The arguments are those of `load_settings`.
    """
    layers, problems = _read(profile, files, overrides or {})
    problems += _exposed_secrets(layers)
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = _merge(merged, layer.values)
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        return Examination(layers, None, (*problems, *_refused(error, layers, merged)))
    for key, reason, remedy in contradictions(settings):
        path = path_of(key)
        problems.append(winner(layers, path).problem(path, reason, remedy))
    return Examination(layers, None if problems else settings, tuple(problems))


def winner(layers: Sequence[Layer], path: Sequence[str]) -> Layer:
    """Return the layer that set this key last, or else its nearest enclosing table."""
    for length in range(len(path), 0, -1):
        for layer in reversed(layers):
            if layer.has(path[:length]):
                return layer
    return layers[0]


def _read(
    profile: str | None, files: Sequence[Path], overrides: Mapping[str, Any]
) -> tuple[tuple[Layer, ...], list[Problem]]:
    """Return the readable layers, and a problem for each unreadable one."""
    readers: list[Callable[[], Layer]] = [partial(profile_layer, "default")]
    if profile is not None:
        readers.append(partial(profile_layer, profile))
    readers += [partial(file_layer, path) for path in files]
    readers += [environment_layer, partial(override_layer, overrides)]
    layers: list[Layer] = []
    problems: list[Problem] = []
    for read in readers:
        try:
            layers.append(read())
        except SettingsError as error:
            problems += error.problems
    return tuple(layers), problems


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables: inner tables merge too, any other value above wins."""
    merged = dict(below)
    for name, value in above.items():
        under = merged.get(name)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            merged[name] = _merge(under, value)
        else:
            merged[name] = value
    return merged


def _exposed_secrets(layers: Sequence[Layer]) -> list[Problem]:
    """Return a problem for each secret in a settings file, a profile or a flag."""
    return [
        layer.problem(
            known.key,
            "a secret must not stand here",
            f"write it into a file of its own and set {known.dotted}_file, or set the environment "
            f"variable {known.variable}",
        )
        for layer in layers
        if layer.kind is not Kind.ENVIRONMENT
        for known in known_keys()
        if known.secret and layer.has(known.key)
    ]


def _refused(
    error: ValidationError, layers: Sequence[Layer], merged: Mapping[str, Any]
) -> Iterator[Problem]:
    """Turn the refusals of the models into problems, one per key."""
    reported = set()
    for detail in error.errors(include_url=False):
        path = [str(part) for part in detail["loc"]]
        if detail["type"] == "missing":
            reason, remedy = "is missing", "set it in a file and name that with --config"
        elif detail["type"] == "extra_forbidden":
            path, reason, remedy = _unknown(path, merged)
        else:
            # A union of types appends the type that it tried to the path of the key.
            while len(path) > 1 and not any(layer.has(path) for layer in layers):
                path.pop()
            reason = f"{given_words(path, detail['input'])} does not fit"
            # The words of our own checks are better than those about the type.
            own = detail["type"] == "value_error"
            remedy = str(detail["ctx"]["error"]) if own else fitting_words(path, layers[0].values)
        key = ".".join(path)
        if key not in reported:
            reported.add(key)
            yield winner(layers, path).problem(path, reason, remedy)


def _unknown(path: list[str], merged: Mapping[str, Any]) -> tuple[list[str], str, str]:
    """Return the unknown key, the reason for its refusal, and what to write instead."""
    value: Any = merged
    for name in path:
        value = value[name] if isinstance(value, Mapping) else None
    if path[0] != "kafka":
        return path, "unknown key", suggestion_for(path, value)
    option, inner = list(path), value
    # TOML reads an unquoted dotted name of Java's as nested tables.
    while isinstance(inner, Mapping) and len(inner) == 1:
        ((name, inner),) = inner.items()
        option.append(name)
    named = ".".join(option[2 if option[1] in ("security", "connection") else 1 :])
    refusal = refusal_of(named) or refusal_of(".".join(option[1:]))
    nearest = None if option != path else nearest_key(path, value)
    if refusal is None or (nearest is not None and nearest.endswith(f".{path[-1]}")):
        return path, "unknown key", suggestion_for(path, value)
    return option, f"is not on the list of Kafka options: {refusal.reason}", refusal.remedy
