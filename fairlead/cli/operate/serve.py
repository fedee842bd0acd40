"""``fairlead serve``: the state of all groups, over HTTP."""

from typing import Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import DataBootstrapOption, SettingsOptions

__all__ = ["serve"]


@takes_sets
def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on; sets serve.host.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help="The port, 0 for any; sets serve.port."),
    ] = None,
    data_bootstrap: DataBootstrapOption = None,
    shared: SettingsOptions,
) -> None:
    """Follow the topics and serve the state of all groups: /metrics, JSON, health.

    It writes nothing, unless the gateway is enabled. Several may run. It needs no engine: groups
    stay visible while that is down. It runs until SIGTERM or Ctrl-C.
    """
    from fairlead.bridges.kafka.data_cluster import DataCluster
    from fairlead.cli.interruption import stop_on_signals
    from fairlead.cli.log_setup import set_up_log
    from fairlead.cli.sources.data_cluster import LOOK_UP_MS_MAX
    from fairlead.kafka.connection import library_options
    from fairlead.serve.process import run_serve

    settings = shared.settings({"serve.host": host, "serve.port": port})
    set_up_log(settings)
    data = DataCluster(
        data_bootstrap or settings.kafka.bootstrap,
        timeout_ms=LOOK_UP_MS_MAX,
        options=library_options(settings.kafka),
    )
    run_serve(settings, data, stop_on_signals())
