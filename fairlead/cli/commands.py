"""The table of commands. To add one, add a line: the name, where it is, and its line of help.

The target is ``module:attribute``: a function (a command) or a ``typer.Typer`` (a group of verbs).
It is imported when the command runs, so that ``--help`` and completion stay fast.
"""

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command before it is imported."""

    target: str
    help: str


COMMANDS: dict[str, CommandEntry] = {
    "demo": CommandEntry(
        "fairlead.cli.demo:demo", "Run the main job on a real broker, break things, and judge it."
    ),
    "demo-producer": CommandEntry(
        "fairlead.cli.demo_producer:demo_producer",
        "Slow one broker and kill another under a producer, and judge it.",
    ),
    "run": CommandEntry("fairlead.cli.run:run", "Run the engine: the streaming job."),
    "serve": CommandEntry(
        "fairlead.cli.serve:serve", "Keep a view of all groups: metrics, JSON, health, over HTTP."
    ),
    "bridge": CommandEntry(
        "fairlead.cli.bridge:app", "Carry routes and bounds of a live cluster into the topics."
    ),
    "broker": CommandEntry(
        "fairlead.cli.broker:app", "Start and stop an embedded Kafka for trying out."
    ),
    "allocate": CommandEntry(
        "fairlead.cli.allocate:allocate", "Show who gets which queue under a strategy."
    ),
    "group": CommandEntry(
        "fairlead.cli.group:app", "Set, unset and show the rules of a group while it runs."
    ),
    "route": CommandEntry(
        "fairlead.cli.route:app", "Publish a topic's route as RocketMQ tells it, and show it."
    ),
    "offsets": CommandEntry(
        "fairlead.cli.offsets:app", "Show how far a group is, and let it go on from elsewhere."
    ),
    "watch": CommandEntry(
        "fairlead.cli.watch:watch", "Show a group as it changes: queues, handovers, decisions."
    ),
    "plan": CommandEntry("fairlead.cli.plan:plan", "Show what would move if a group were changed."),
    "apply": CommandEntry(
        "fairlead.cli.apply:apply", "Carry out a saved plan, unless the group has moved on."
    ),
    "explain": CommandEntry(
        "fairlead.cli.explain:explain", "Tell who has a queue and why, with the records behind it."
    ),
    "moves": CommandEntry(
        "fairlead.cli.moves:moves", "Tell which queues of a group moved, when and why."
    ),
    "rejects": CommandEntry(
        "fairlead.cli.rejects:app", "Tell which records were refused, and why."
    ),
    "adopt": CommandEntry(
        "fairlead.cli.adopt:adopt", "Take a native Kafka consumer group over, where it stopped."
    ),
    "release": CommandEntry(
        "fairlead.cli.release:release", "Hand a group back to native Kafka consumers."
    ),
    "verify": CommandEntry(
        "fairlead.cli.verify:verify", "Judge recorded topics and journals by every invariant."
    ),
    "record": CommandEntry(
        "fairlead.cli.record:record", "Write what stands in Fairlead's topics into a folder."
    ),
    "replay": CommandEntry(
        "fairlead.cli.replay:replay", "Run again what the engine read; compare what it wrote."
    ),
    "explore": CommandEntry(
        "fairlead.cli.explore:explore", "Search every order of events of small worlds."
    ),
    "sim": CommandEntry(
        "fairlead.cli.sim:sim", "Run the real engine and client in simulated time, with faults."
    ),
    "pitfalls": CommandEntry(
        "fairlead.cli.pitfalls:pitfalls", "Tell RocketMQ's own way and ours side by side."
    ),
    "conform": CommandEntry(
        "fairlead.cli.conform:conform", "Answer cases as RocketMQ's own classes answer them."
    ),
    "config": CommandEntry(
        "fairlead.cli.config:app", "Show and check the settings; print their schema."
    ),
    "doctor": CommandEntry(
        "fairlead.cli.doctor:doctor", "Check all that Fairlead needs, and say how to mend it."
    ),
    "setup": CommandEntry(
        "fairlead.cli.setup:app", "Fetch the jars, make the class-data archives, fetch Prometheus."
    ),
    "bench": CommandEntry(
        "fairlead.cli.bench:bench", "Measure joins and leaves on the real broker and job."
    ),
    "bench-strategies": CommandEntry(
        "fairlead.cli.bench_strategies:bench_strategies",
        "Measure our strategies beside Kafka's own assignors.",
    ),
}
