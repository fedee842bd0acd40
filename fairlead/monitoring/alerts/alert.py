"""What an alert is, and how counters are read by one."""

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["page", "ticket"]
"""``page``: somebody gets up now. ``ticket``: somebody looks during the day."""

Job = Literal["fairlead-engine", "fairlead-serve", "fairlead-clients"]
"""Which processes a metric comes from; the names of the scrape jobs."""

ENGINE: Final[Job] = "fairlead-engine"
SERVE: Final[Job] = "fairlead-serve"
CLIENTS: Final[Job] = "fairlead-clients"


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert.

    In ``expression`` every duration is written as PromQL has it (``5m``); one that a number of
    seconds is compared with stands as ``seconds(60s)``. So all of them can be scaled together.

    Attributes:
        name: also the name of its runbook.
        job: whose metrics it is about.
        severity: who is told, and how fast.
        expression: PromQL; what it returns fires.
        hold: for how long it has to hold until it fires; ``0s``: at once.
        when: the same in words, for the page of all alerts.
        summary: one line for whoever is told; a template over the labels.
        description: what it means to users, and the first command.
    """

    name: str
    job: Job
    severity: Severity
    expression: str
    hold: str
    when: str
    summary: str
    description: str

    @property
    def runbook(self) -> str:
        """Where its runbook is, from the top of the repository."""
        return f"docs/runbooks/{self.name}.md"


@dataclass(frozen=True, slots=True)
class Growth:
    """By how much a counter has grown within a window: recorded, so that alerts are short.

    A counter that is left out while it is 0 appears with its first event, which ``increase`` cannot
    see. A series that was not there at the window's begin has therefore grown by its whole value,
    if its process answered within the window without it; one that was, by what ``increase`` says,
    which sees through restarts. What was there whenever its process answered, as Prometheus looks
    for the first time or again after a while, may be old, and has not grown.

    Attributes:
        counter: its name.
        window: how far back, a duration of PromQL.
        job: whose counter it is.
        matchers: which of its series, as PromQL has it.
        over: labels that are summed over.
    """

    counter: str
    window: str
    job: Job
    matchers: str = ""
    over: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is recorded as: level, metric and operation, as is the custom."""
        level = "group" if self.job == SERVE else "engine"
        word = self.counter.removesuffix("_total")
        return f"{level}:{word}:increase{self.window}"

    @property
    def expression(self) -> str:
        """The PromQL of it, with its durations to be scaled."""
        counter = f"{self.counter}{{{self.matchers}}}" if self.matchers else self.counter
        answers = f'sum_over_time(up{{job="{self.job}"}}[{self.window}])'
        # A minute, so that one scrape that failed there is no birth.
        grown = (
            f"{counter} unless last_over_time({counter}[1m] offset {self.window})\n"
            f"and count_over_time({counter}[{self.window}])"
            f" < on (job, instance) group_left () {answers}\n"
            f"or increase({counter}[{self.window}])"
        )
        # The sum also takes away the name, which a series would keep that is taken as it is.
        indented = grown.replace("\n", "\n  ")
        return f"sum without ({', '.join(self.over)}) (\n  {indented}\n)"
