"""`fairlead setup`: what a machine needs once, before the engine or the embedded broker runs."""

import time
from typing import Annotated

import typer
from rich.console import Console

from fairlead.jars import ensure_jars
from fairlead.jars.manifest import BROKER_SETS, JAR_SET_NAMES, JarSetName
from fairlead.jars.progress import ConsoleProgress

app = typer.Typer(no_args_is_help=True, help="Fetch the jars; make the class-data archives.")


@app.command()
def jars(
    only: Annotated[
        JarSetName | None,
        typer.Option("--only", help="One set instead of all.", show_default=False),
    ] = None,
) -> None:
    """Fetch the pinned jars into the cache, or check the cached ones.

    The connector lets Spark read and write Kafka, the broker is the embedded Kafka, broker-logging
    writes its log. The Ivy inside the pyspark wheel fetches them once, and the command compares
    every file with its SHA-256.
    """
    progress = ConsoleProgress(Console(stderr=True))
    for name in JAR_SET_NAMES if only is None else (only,):
        typer.echo(f"{name}: {ensure_jars(name, progress)}")


@app.command()
def archive(
    *,
    force: Annotated[bool, typer.Option("--force", help="Make the archives again.")] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="Also measure a start without it.")
    ] = False,
) -> None:
    """Make the missing class-data archives for this Java and these jars.

    A short real job on an embedded broker records the classes that engine and broker load. A second
    one proves that the JVM uses the engine's archive.
    """
    from fairlead.cli.operate.archive_training import ArchiveMaker
    from fairlead.java import find_java

    progress = ConsoleProgress(Console(stderr=True))
    connector = ensure_jars("connector", progress)
    broker_jars = [ensure_jars(name, progress) for name in BROKER_SETS]
    maker = ArchiveMaker(
        find_java(), connector, broker_jars, lambda line: typer.echo(f"archive: {line}", err=True)
    )
    begun = time.monotonic()
    if force:
        for path in (maker.spark, maker.broker):
            path.unlink(missing_ok=True)
    made = maker.make(measure=measure) if maker.missing() else None
    for path in (maker.spark, maker.broker):
        if made is None or path not in made.paths:
            typer.echo(f"archive: {path} exists")
        else:
            typer.echo(f"archive: {path} ({path.stat().st_size / 1e6:.0f} MB)")
    if made is None:
        return
    typer.echo(f"archive: made in {time.monotonic() - begun:.0f} s")
    if made.before is not None:
        typer.echo(f"archive: session and first batch without it {made.before.start_s:.1f} s")
    share = made.after.archived_share
    typer.echo(
        f"archive: session and first batch with it {made.after.start_s:.1f} s "
        f"({share:.0%} of the classes)"
    )
