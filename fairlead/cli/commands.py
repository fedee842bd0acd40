"""The table of commands. To add one, add a line: its name, its target, its help, its panel.

The target is ``module:attribute``: a function (a command) or a ``typer.Typer`` (a group of verbs).
It is imported when the command runs, so that ``--help`` and completion stay fast. Commands of the
panel `MORE` have no line of their own in ``fairlead --help``: it names them below the panels.
"""

from typing import Final, NamedTuple

PROOF: Final = "fairlead_proof"
"""The package that is apart from the product; ``pip install 'fairlead[proof]'`` adds it."""

RUN: Final = "Run"
ASK: Final = "Ask"
CHANGE: Final = "Change"
JUDGE: Final = "Judge"
MORE: Final = "More"


class CommandEntry(NamedTuple):
    """A command before it is imported."""

    target: str
    help: str
    panel: str | None = None


COMMANDS: Final[dict[str, CommandEntry]] = {
    "run": CommandEntry("fairlead.cli.operate.run:run", "Run the engine.", RUN),
    "serve": CommandEntry(
        "fairlead.cli.operate.serve:serve", "Serve the state of all groups and metrics.", RUN
    ),
    "bridge": CommandEntry(
        "fairlead.cli.operate.bridge:app", "Carry topics and offsets of a live cluster in.", RUN
    ),
    "doctor": CommandEntry(
        "fairlead.cli.operate.doctor:doctor", "Check the installation; say what to fix.", RUN
    ),
    "group": CommandEntry(
        "fairlead.cli.group.app:app", "List, describe and check groups; set their rules.", ASK
    ),
    "observe": CommandEntry(
        "fairlead.cli.observe.app:app", "Look at groups that a cluster itself shares out.", ASK
    ),
    "watch": CommandEntry(
        "fairlead.cli.ask.watch:watch", "Follow a group: queues, handovers, decisions.", ASK
    ),
    "explain": CommandEntry(
        "fairlead.cli.ask.explain:explain", "Show who owns a queue and why, with evidence.", ASK
    ),
    "moves": CommandEntry("fairlead.cli.ask.moves:moves", "Show which queues moved and why.", ASK),
    "plan": CommandEntry(
        "fairlead.cli.change.plan:plan", "Show what a change of a group would move.", CHANGE
    ),
    "apply": CommandEntry("fairlead.cli.change.apply:apply", "Carry out a saved plan.", CHANGE),
    "offsets": CommandEntry(
        "fairlead.cli.change.offsets:app", "Show and reset the positions of a group.", CHANGE
    ),
    "adopt": CommandEntry(
        "fairlead.cli.change.adopt:adopt", "Take over a native consumer group.", CHANGE
    ),
    "release": CommandEntry(
        "fairlead.cli.change.release:release", "Hand a group back to native consumers.", CHANGE
    ),
    "verify": CommandEntry(
        "fairlead.cli.judge.verify:verify", "Judge what happened by every rule.", JUDGE
    ),
    "replay": CommandEntry(
        "fairlead.cli.judge.replay:replay", "Run a recording again and compare the output.", JUDGE
    ),
    "config": CommandEntry("fairlead.cli.operate.config:app", "Show and check the settings.", MORE),
    "token": CommandEntry(
        "fairlead.cli.operate.token:app", "Make, list and revoke tokens of callers.", MORE
    ),
    "setup": CommandEntry(
        "fairlead.cli.operate.setup:app", "Fetch the jars; make class-data archives.", MORE
    ),
    "record": CommandEntry(
        "fairlead.cli.judge.record:record", "Record the topics into a folder.", MORE
    ),
    "rejects": CommandEntry(
        "fairlead.cli.ask.rejects:app", "Show which records the engine refused and why.", MORE
    ),
    "route": CommandEntry(
        "fairlead.cli.change.route:app", "Publish, show and delete routes of topics.", MORE
    ),
    "broker": CommandEntry(
        "fairlead.cli.operate.broker:app", "Start and stop an embedded Kafka for trials.", MORE
    ),
    "rocketmq": CommandEntry(
        "fairlead.cli.operate.rocketmq:app", "Start and stop an embedded RocketMQ for trials.", MORE
    ),
    "demo": CommandEntry(
        f"{PROOF}.cli.demo:demo", "Run the engine on a real broker, break it, judge it.", MORE
    ),
    "demo-rocketmq": CommandEntry(
        f"{PROOF}.cli.demo_rocketmq:demo_rocketmq",
        "Run Java consumers of RocketMQ, break parts, compare with RocketMQ's own way.",
        MORE,
    ),
    "proof": CommandEntry(
        f"{PROOF}.cli.proof:app", "Run simulator, explorer and benchmarks.", MORE
    ),
}
