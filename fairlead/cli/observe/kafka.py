"""``fairlead observe kafka``: Kafka's own consumer groups."""

from typing import Annotated

import typer

from fairlead.cli.observe.look_options import LookOptions
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import ConfigOption, ProfileOption, settings_of

__all__ = ["kafka"]


@takes_sets
def kafka(
    *,
    bootstrap: Annotated[
        str | None,
        typer.Option("--bootstrap", help="The cluster to look at, as host:port[,host:port]."),
    ] = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    options: LookOptions,
) -> None:
    """Look at Kafka's own consumer groups, of the classic protocol and of KIP-848.

    Shows members, owners, lag and what is wrong; of one group also what a join, a leave and a
    deploy would move. The command asks by Kafka's admin API alone: it joins no group and commits
    nothing. Exit code 1 if something is wrong. docs/observe.md explains each problem.
    """
    from fairlead.cli.observe.looks import show
    from fairlead.cli.sources.data_cluster import data_cluster
    from fairlead.native.kafka_groups import KafkaGroups

    options.require_whole()
    settings = settings_of(bootstrap, None, profile, config)
    with data_cluster(settings.kafka) as data:
        show(KafkaGroups(data), options)
