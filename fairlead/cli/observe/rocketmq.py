"""``fairlead observe rocketmq``: the groups that RocketMQ's consumers share out themselves."""

from typing import Annotated

import typer

from fairlead.cli.observe.look_options import LookOptions
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.rocketmq_options import RocketMQOptions

__all__ = ["rocketmq"]


@takes_sets
def rocketmq(
    *,
    servers: RocketMQOptions,
    cluster_name: Annotated[
        str | None,
        typer.Option("--cluster-name", help="One cluster of brokers.", show_default="all brokers"),
    ] = None,
    client_timeout: Annotated[
        float,
        typer.Option(
            "--client-timeout",
            metavar="SECONDS",
            min=0.1,
            max=30,
            help="A consumer that takes longer to answer counts as frozen.",
        ),
    ] = 2.0,
    options: LookOptions,
) -> None:
    """Look at RocketMQ's own consumer groups, on servers of 4.x and 5.x.

    Shows members, owners, lag and what is wrong; of one group also what a join, a leave and a
    deploy would move. The command asks by RocketMQ's admin requests alone: it joins no group and
    commits nothing. Exit code 1 if something is wrong. docs/observe.md explains each problem.
    """
    from fairlead_client.remoting.connections import Connections

    from fairlead.cli.observe.looks import show
    from fairlead.native.rocketmq_groups import RocketmqGroups
    from fairlead.rocketmq.name_servers import NameServers, addresses_of

    options.require_whole()
    addresses = addresses_of(servers.namesrv)
    with Connections(servers.connection()) as connections:
        groups = RocketmqGroups(
            connections,
            NameServers(connections, addresses),
            cluster=cluster_name,
            client_s=client_timeout,
            sparing=options.watch,
        )
        show(groups, options)
