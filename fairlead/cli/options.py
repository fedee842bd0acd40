"""Options that several commands share."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.completions import complete_group, complete_profile
from fairlead.cli.render.output import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairlead.settings import Examination, Settings

GroupArgument = Annotated[
    str, typer.Argument(metavar="GROUP", help="The group.", autocompletion=complete_group)
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="A profile of conf/ over the defaults, such as rocketmq.",
        autocompletion=complete_profile,
    ),
]
ConfigOption = Annotated[
    list[Path] | None,
    typer.Option("--config", help="A TOML file over defaults and profile. Repeatable."),
]
BootstrapOption = Annotated[
    str | None,
    typer.Option("--bootstrap", help="Brokers as host:port[,host:port]; sets kafka.bootstrap."),
]
DataBootstrapOption = Annotated[
    str | None,
    typer.Option("--data-bootstrap", help="The cluster with the messages, if it is another one."),
]
OwnBrokerOption = Annotated[
    str | None,
    typer.Option("--bootstrap", help="Use these brokers (host:port) instead of starting one."),
]
TopicPrefixOption = Annotated[
    str | None,
    typer.Option("--topic-prefix", help="The prefix of the topics' names."),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option("--checkpoint", help="The state's folder; sets engine.checkpoint."),
]
OutputOption = Annotated[
    OutputFormat,
    typer.Option("--output", "-o", help="The form of the results."),
]
CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Exit with 1 unless every measured target holds."),
]


@dataclass(frozen=True)
class SettingsOptions:
    """The options that determine a command's settings."""

    bootstrap: BootstrapOption = None
    topic_prefix: TopicPrefixOption = None
    profile: ProfileOption = None
    config: ConfigOption = None

    def settings(self, overrides: Mapping[str, Any] | None = None) -> "Settings":
        """Return the settings under these options; `settings_of` has what it raises."""
        return settings_of(
            self.bootstrap, self.topic_prefix, self.profile, self.config, overrides=overrides
        )

    def examined(
        self, files: "Sequence[Path]" = (), overrides: Mapping[str, Any] | None = None
    ) -> "Examination":
        """Return the settings under these options, with their errors.

        ``files`` go over those of ``--config``; ``overrides``: as of `settings_of`.
        """
        from fairlead.settings import examine

        topics = {"kafka.bootstrap": self.bootstrap, "kafka.topic_prefix": self.topic_prefix}
        given = (*(self.config or ()), *files)
        return examine(profile=self.profile, files=given, overrides={**topics, **(overrides or {})})


@dataclass(frozen=True)
class OutputOptions(SettingsOptions):
    """The settings, and the form of the results."""

    output: OutputOption = OutputFormat.TABLE


def settings_of(
    bootstrap: str | None,
    topic_prefix: str | None,
    profile: str | None,
    config: list[Path] | None,
    *,
    overrides: Mapping[str, Any] | None = None,
) -> "Settings":
    """Return the settings under a command's options.

    ``overrides``: the settings that other options give, by name; None: not given.

    Raises:
        SettingsError: a setting is unknown or invalid; the message names it.
    """
    from fairlead.settings import load_settings

    topics = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topic_prefix}
    return load_settings(
        profile=profile, files=config or (), overrides={**topics, **(overrides or {})}
    )
