"""``fairlead serve``: the view of all groups, over HTTP."""

from typing import Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import SettingsOptions

__all__ = ["serve"]


@takes_sets
def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen at; sets serve.host.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help="0 for any; sets serve.port."),
    ] = None,
    shared: SettingsOptions,
) -> None:
    """Follow the topics, and tell of all groups: /metrics, JSON, health.

    It reads and writes nothing, so several may run, and none needs the engine: groups stay visible
    while it is down. It runs until SIGTERM or Ctrl-C.
    """
    from fairlead.cli.bridge import log_to_stderr, stop_on_signals
    from fairlead.serve.process import run_serve

    settings = shared.settings({"serve.host": host, "serve.port": port})
    log_to_stderr()
    run_serve(settings, stop_on_signals())
