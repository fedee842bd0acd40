"""The entry point: a table of commands, each imported only when it is asked for."""

import typer

app = typer.Typer(name="fairlead", no_args_is_help=True, add_completion=True)


@app.callback()
def fairlead() -> None:
    """Decide which consumer of a group reads which queue, in real time."""


def main() -> None:
    """Run the command line."""
    app()
