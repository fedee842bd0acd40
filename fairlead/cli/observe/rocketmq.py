"""``fairlead observe rocketmq``: who works on which queue, and what is wrong."""

from typing import Annotated

import typer

from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat
from fairlead.errors import UsageError

__all__ = ["rocketmq"]


def rocketmq(
    *,
    namesrv: Annotated[
        str, typer.Option("--namesrv", help="The name servers as host:port[;host:port].")
    ],
    group: Annotated[
        str | None, typer.Option("--group", help="One group.", show_default="all groups")
    ] = None,
    cluster_name: Annotated[
        str | None,
        typer.Option("--cluster-name", help="One cluster of brokers.", show_default="all brokers"),
    ] = None,
    client_timeout: Annotated[
        float,
        typer.Option(
            "--client-timeout",
            min=0.1,
            max=30,
            help="Seconds after which a consumer that does not answer counts as frozen.",
        ),
    ] = 2.0,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again and again; write each rebalance.")
    ] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", min=2, max=3600, help="Seconds between looks of --watch."),
    ] = 5.0,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for",
            metavar="SECONDS",
            min=0,
            help="End --watch after this many seconds.",
            show_default=False,
        ),
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show who works on which queue in RocketMQ's groups, what is wrong, what changes would move.

    Exit code 1 if something is wrong. The command joins no group and changes nothing.
    docs/observe-rocketmq.md explains each problem.
    """
    from fairlead.cli.observe.rocketmq_work import LookOptions, look_once, watch_groups

    options = LookOptions(namesrv, group, cluster_name, client_timeout)
    if not watch:
        look_once(options, output)
        return
    if output is OutputFormat.JSON:
        raise UsageError(
            "--output: --watch writes one rebalance after the other, and no single JSON document.",
            remedy="Give -o jsonl: one JSON object on each line.",
        )
    watch_groups(options, interval, seconds, output)
