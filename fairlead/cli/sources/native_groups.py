"""Native groups for commands: as `fairlead serve` knows them, or by a look of the command's own."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from fairlead.cli.render.output import warn
from fairlead.cli.sources.served_view import NobodyServesError, ask_serve
from fairlead.errors import EnvironmentMissingError, UsageError

if TYPE_CHECKING:
    from fairlead.native.native_view import NativeView
    from fairlead.settings import Settings

__all__ = ["NativeGroupsRead", "describe_native", "naming_native", "read_native_groups"]

_NS_PER_MS: Final = 1_000_000
_REMEDY: Final = "Set observe.namesrv or observe.kafka_bootstrap; docs/observe.md has both."


@dataclass(frozen=True, slots=True)
class NativeGroupsRead:
    """What is known of native groups.

    Attributes:
        groups: a summary of each, by name.
        sources: how each cluster was seen; empty: the settings name none.
    """

    groups: list[dict[str, Any]]
    sources: list[dict[str, Any]]


def read_native_groups(settings: "Settings") -> NativeGroupsRead:
    """Return the native groups of the clusters that `[observe]` names, here or at `serve.url`."""
    served = _served(settings, "/api/v1/native")
    if served is not None and served["native_sources"]:
        return NativeGroupsRead(served["native_groups"], served["native_sources"])
    if not (settings.observe.kafka_bootstrap or settings.observe.namesrv):
        return NativeGroupsRead([], [])
    view = _looked(settings)
    return NativeGroupsRead(
        [each.summary() for each in view.groups()], [each.to_json() for each in view.sources()]
    )


def describe_native(settings: "Settings", kind: str, name: str) -> dict[str, Any]:
    """Return a native group with its members, queues and history.

    Raises:
        UsageError: no cluster of this kind is named, or it has no such group.
        EnvironmentMissingError: the cluster does not answer.
    """
    served = _served(settings, "/api/v1/native")
    if served is not None and any(each["native"] == kind for each in served["native_sources"]):
        if any(each["group"] == name for each in served["native_groups"] if each["native"] == kind):
            path = f"/api/v1/native/{kind}/groups/{quote(name, safe='')}"
            found = _served(settings, path)
            if found is not None:
                return found
        raise _unknown(kind, name, served["native_groups"])
    if not (settings.observe.namesrv if kind == "rocketmq" else settings.observe.kafka_bootstrap):
        raise UsageError(f"--native: the settings name no cluster of {kind}.", remedy=_REMEDY)
    view = _looked(settings)
    seen = view.group(kind, name)
    if seen is not None:
        return seen.to_json()
    for each in view.sources():
        if each.kind == kind and each.trouble:
            raise EnvironmentMissingError(each.trouble, remedy=f"Check observe.… of {kind}.")
    raise _unknown(kind, name, [each.summary() for each in view.groups()])


@contextlib.contextmanager
def naming_native(settings: "Settings", name: str) -> Iterator[None]:
    """Let the error about an unknown group say that there is a native one of this name.

    Raises:
        UsageError: nobody knows a group of Fairlead's of this name.
    """
    from fairlead.control.group_names import NoSuchGroupError

    try:
        yield
    except NoSuchGroupError as error:
        natives = read_native_groups(settings).groups
        kinds = [each["native"] for each in natives if each["group"] == name]
        if not kinds:
            raise
        raise UsageError(
            f"{name}: this is a native group. Its cluster ({', '.join(kinds)}) shares it out, and "
            "Fairlead keeps neither state nor rules of it.",
            remedy=f"`fairlead group describe {name} --native {kinds[0]}` shows it.",
        ) from error


def _unknown(kind: str, name: str, groups: list[dict[str, Any]]) -> UsageError:
    from fairlead.control.group_names import nearest_words

    near = nearest_words(name, [each["group"] for each in groups if each["native"] == kind])
    return UsageError(
        f"{name}: no native group of {kind} has this name.",
        remedy=f"{near}." if near else "See fairlead group list --native; observe.groups chooses.",
    )


def _served(settings: "Settings", path: str) -> dict[str, Any] | None:
    """Return the answer of `fairlead serve`; None: nobody serves."""
    if not settings.serve.url:
        return None
    try:
        return ask_serve(settings.serve.url, path, settings.serve.token_file)
    except (NobodyServesError, EnvironmentMissingError):
        return None


def _looked(settings: "Settings") -> "NativeView":
    from functools import partial

    from fairlead.errors import FairleadError
    from fairlead.native.native_sources import is_wanted, native_sources
    from fairlead.native.native_view import NativeView

    sources = native_sources(settings)
    view = NativeView((each.kind, each.address) for each in sources)
    for source in sources:
        try:
            with source.reading() as reader:
                look = reader.look(partial(is_wanted, settings))
        except FairleadError as error:
            view.failed(source.kind, error.message)
            warn(f"native groups of {source.kind}: {error.message}")
        else:
            view.took(source.kind, look, time.time_ns() // _NS_PER_MS)
    return view
