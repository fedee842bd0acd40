"""``fairlead observe``: the command of each data plane."""

import typer

from fairlead.cli.observe.kafka import kafka
from fairlead.cli.observe.rocketmq import rocketmq

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("kafka")(kafka)
app.command("rocketmq")(rocketmq)


@app.callback()
def observe() -> None:
    """Look at groups that a cluster shares out by itself: read only, never a member."""
