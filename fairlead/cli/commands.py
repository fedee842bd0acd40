"""The table of commands. To add one, add a line: its name, where it is, its help, its panel.

The target is ``module:attribute``: a function (a command) or a ``typer.Typer`` (a group of verbs).
It is imported when the command runs, so that ``--help`` and completion stay fast.
"""

from typing import Final, NamedTuple

PROOF: Final = "fairlead_proof"
"""The package that is apart from the product; ``pip install 'fairlead[proof]'`` adds it."""

RUN: Final = "Run"
ASK: Final = "Ask"
CHANGE: Final = "Change"
JUDGE: Final = "Judge"
TRY_OUT: Final = "Try out"


class CommandEntry(NamedTuple):
    """A command before it is imported."""

    target: str
    help: str
    panel: str | None = None


COMMANDS: Final[dict[str, CommandEntry]] = {
    "run": CommandEntry("fairlead.cli.operate.run:run", "Run the engine: the streaming job.", RUN),
    "serve": CommandEntry(
        "fairlead.cli.operate.serve:serve",
        "Answer questions about all groups over HTTP; metrics.",
        RUN,
    ),
    "bridge": CommandEntry(
        "fairlead.cli.operate.bridge:app", "Bring the routes and bounds of a live cluster in.", RUN
    ),
    "config": CommandEntry("fairlead.cli.operate.config:app", "Show and check the settings.", RUN),
    "doctor": CommandEntry(
        "fairlead.cli.operate.doctor:doctor",
        "Check all that Fairlead needs, and say how to mend it.",
        RUN,
    ),
    "setup": CommandEntry(
        "fairlead.cli.operate.setup:app", "Fetch jars; make class-data archives.", RUN
    ),
    "group": CommandEntry(
        "fairlead.cli.group.app:app",
        "List, describe and check groups; set and show their rules.",
        ASK,
    ),
    "watch": CommandEntry(
        "fairlead.cli.ask.watch:watch",
        "Show a group as it changes: queues, handovers, decisions.",
        ASK,
    ),
    "explain": CommandEntry(
        "fairlead.cli.ask.explain:explain", "Tell who has a queue and why, with the evidence.", ASK
    ),
    "moves": CommandEntry("fairlead.cli.ask.moves:moves", "Tell which queues moved, and why.", ASK),
    "rejects": CommandEntry(
        "fairlead.cli.ask.rejects:app", "Tell which records were refused, and why.", ASK
    ),
    "plan": CommandEntry(
        "fairlead.cli.change.plan:plan", "Show what would move if a group were changed.", CHANGE
    ),
    "apply": CommandEntry(
        "fairlead.cli.change.apply:apply",
        "Carry out a saved plan, unless the group has moved on.",
        CHANGE,
    ),
    "offsets": CommandEntry(
        "fairlead.cli.change.offsets:app",
        "Show how far a group is; let it go on from elsewhere.",
        CHANGE,
    ),
    "route": CommandEntry(
        "fairlead.cli.change.route:app",
        "Publish the route of a topic as RocketMQ tells it.",
        CHANGE,
    ),
    "adopt": CommandEntry(
        "fairlead.cli.change.adopt:adopt", "Take a native Kafka consumer group over.", CHANGE
    ),
    "release": CommandEntry(
        "fairlead.cli.change.release:release",
        "Hand a group back to native Kafka consumers.",
        CHANGE,
    ),
    "record": CommandEntry(
        "fairlead.cli.judge.record:record", "Write what stands in the topics into a folder.", JUDGE
    ),
    "replay": CommandEntry(
        "fairlead.cli.judge.replay:replay", "Run a recording again; compare what comes out.", JUDGE
    ),
    "verify": CommandEntry(
        "fairlead.cli.judge.verify:verify",
        "Judge recorded topics and journals by every rule.",
        JUDGE,
    ),
    "demo": CommandEntry(
        f"{PROOF}.cli.demo:demo", "Run the main job on a real broker, break it, judge it.", TRY_OUT
    ),
    "broker": CommandEntry(
        "fairlead.cli.operate.broker:app",
        "Start and stop an embedded Kafka for trying out.",
        TRY_OUT,
    ),
    "proof": CommandEntry(
        f"{PROOF}.cli.proof:app", "What the makers use: simulator, explorer, benchmarks.", TRY_OUT
    ),
}
