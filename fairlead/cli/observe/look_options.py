"""The options that the commands of all data planes share."""

from dataclasses import dataclass
from typing import Annotated

import typer

from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat
from fairlead.errors import UsageError

__all__ = ["LookOptions"]


@dataclass(frozen=True)
class LookOptions:
    """What to look at, how often, and the form of the results."""

    group: Annotated[
        str | None, typer.Option("--group", help="One group.", show_default="all groups")
    ] = None
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again and again; write each rebalance.")
    ] = False
    interval: Annotated[
        float,
        typer.Option(
            "--interval",
            metavar="SECONDS",
            min=0.2,
            max=3600,
            help="With --watch: the time between looks.",
        ),
    ] = 2.0
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for",
            metavar="SECONDS",
            min=0,
            help="End --watch after this many seconds.",
            show_default=False,
        ),
    ] = None
    output: OutputOption = OutputFormat.TABLE

    def require_whole(self) -> None:
        """Refuse what no form of the results can hold.

        Raises:
            UsageError: a watch never ends, and JSON is one document.
        """
        if self.watch and self.output is OutputFormat.JSON:
            raise UsageError(
                "--output: --watch writes one rebalance after the other, and no single document.",
                remedy="Give -o jsonl: one JSON object on each line.",
            )

    def wants(self, name: str) -> bool:
        """Return whether a group of this name is looked at."""
        return self.group in (None, name)
