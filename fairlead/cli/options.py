"""Options that several commands share, so that they are spelled and explained once."""

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.output import OutputFormat

ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", help="A profile of conf/ over the defaults, such as rocketmq."),
]
ConfigOption = Annotated[
    list[Path] | None,
    typer.Option("--config", help="A TOML file over defaults and profile; may be given again."),
]
BootstrapOption = Annotated[
    str | None,
    typer.Option("--bootstrap", help="Brokers as host:port[,host:port]; sets kafka.bootstrap."),
]
TopicPrefixOption = Annotated[
    str | None,
    typer.Option("--topic-prefix", help="What the topics' names begin with."),
]
OutputOption = Annotated[
    OutputFormat,
    typer.Option("--output", "-o", help="How results are written to the standard output."),
]
