"""The comparison of a replay as people read it."""

from typing import Any, Final

import typer

__all__ = ["NOT_RECORDED", "show_comparison"]

NOT_RECORDED: Final = (
    "Record before retention deletes the engine's input since its state began, and keep the "
    "folder; `fairlead verify` judges the rest from the records alone."
)


def show_comparison(document: dict[str, Any]) -> None:
    """Write a comparison to the standard output."""
    typer.echo(
        f"{document['cuts']:,} batches with a decision in {document['shards']} shards, under "
        f"{document['generations']} generations; {document['records']:,} records written"
    )
    for name, words in (
        ("resent", "were written more than once"),
        ("unwritten", "were lost with their driver"),
        ("undecided", "are the last of their driver, of a batch whose decision was not read"),
        ("others", "are of others: members, producers and operators ask bridges too"),
    ):
        if document[name]:
            typer.echo(f"{document[name]:,} records {words}")
    if document["settings_assumed"]:
        numbers = ", ".join(map(str, document["settings_assumed"]))
        typer.echo(f"the claims of generations {numbers} have no settings: using the given ones")
    for part in document["not_compared"]:
        numbers = ", ".join(map(str, part["generation_list"]))
        typer.echo(f"NOT COMPARED: generations {numbers} in shard {part['shard']}")
        typer.echo(f"  why           {part['reason']}")
        typer.echo(f"  what to do    {NOT_RECORDED}")
    difference = document["difference"]
    if difference is None:
        nothing = "there is no decision: nothing is proved"
        typer.echo("the same, byte for byte" if document["cuts"] else nothing)
        return
    typer.echo("DIFFERENT: the first difference")
    for name in ("topic", "partition", "offset", "batch", "key_expected", "key_got", "field"):
        value = difference[name]
        if name == "batch" and value is not None:
            value = ", ".join(f"{word} {number}" for word, number in value.items())
        typer.echo(f"  {name:13} {'-' if value is None else value}")
    for name in ("expected", "got"):
        typer.echo(f"  {name:13} {'nothing' if difference[name] is None else difference[name]}")
    if document["compacted"]:
        gone = ", ".join(document["compacted"])
        typer.echo(f"the difference proves nothing, since records were compacted away: {gone}")
