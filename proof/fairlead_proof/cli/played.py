"""How a demo's command plays it, shows what came of it, and ends."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.errors import ExitCode

if TYPE_CHECKING:
    from rich.console import Console

    from fairlead_proof.demo.screen import Screen

__all__ = ["Played", "play_and_show"]


class Played(Protocol):
    """What came of a demo."""

    @property
    def passed(self) -> bool:
        """Whether the verdict is positive."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the report."""
        ...


_Played = TypeVar("_Played", bound=Played)


def play_and_show(
    play: "Callable[[Screen], _Played]",
    show: "Callable[[_Played, Console], None]",
    *,
    report: Path,
    output: OutputFormat,
    check: bool,
) -> None:
    """Play a demo, write its report, and show it to people and programs.

    Args:
        play: plays it on a screen.
        show: prints what came of it.
        report: where the report is written, as JSON.
        output: whether a program reads the standard output.
        check: the verdict is the exit code.

    Raises:
        Exit: somebody has interrupted it, or the verdict is negative and asked for.
    """
    from fairlead_proof.demo.report import write_report
    from fairlead_proof.demo.run import make_console
    from fairlead_proof.demo.screen import Screen

    console = make_console(to_stderr=output is not OutputFormat.TABLE)
    stop_once_on_signals()
    try:
        with Screen(console) as screen:
            played = play(screen)
    except KeyboardInterrupt:
        typer.echo("interrupted; everything was stopped", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    write_report(played.to_json(), report)
    show(played, console)
    console.print(f"report: {report}", markup=False, soft_wrap=True)
    if output is not OutputFormat.TABLE:
        write_document(played.to_json(), output)
    if check and not played.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
