"""What an alert is, and how counters are read by one."""

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["page", "ticket"]
"""``page``: somebody gets up now. ``ticket``: somebody looks during the day."""

Job = Literal["fairlead-engine", "fairlead-bridge", "fairlead-serve", "fairlead-clients"]
"""Which processes a metric comes from; the names of the scrape jobs."""

ENGINE: Final[Job] = "fairlead-engine"
BRIDGE: Final[Job] = "fairlead-bridge"
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
        severity: whom it reaches, and how fast.
        expression: PromQL; what it returns fires.
        hold: for how long it has to hold until it fires; ``0s``: at once.
        when: the same in words, for the page of all alerts.
        summary: one line for its reader; a template over the labels.
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
    see, and goes away when its process is started again. So a series that its process has answered
    without, within the window, has grown by its whole value since; and before that by its greatest
    value of the window less the one it came with, which is 0 if it was not there and its process
    was. What was there whenever its process answered, as Prometheus looks for the first time or
    again after a while, may be old: only what is added to it has grown.

    Values are whole: ``increase`` extrapolates, and is asked only where a counter began again
    without an answer in between.

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
        now = f"{self.counter}{{{self.matchers}}}" if self.matchers else self.counter
        window = self.window
        most = f"max_over_time({now}[{window}])"
        answers = f'sum_over_time(up{{job="{self.job}"}}[{window}]'
        began = (
            # As far back again, so that scrapes that failed there are no birth.
            f"(last_over_time({now}[{window}] offset {window})"
            f" or 0 * {most} and on (job, instance) {answers} offset {window}) > 0)"
        )
        grown = (
            f"({now} or 0 * {most})\n"
            # Greater than now: that was before its process was started again.
            f"  + (({most} unless {most} <= {now})\n"
            f"    - {began}\n"
            f"    or 0 * {most})\n"
            f"and count_over_time({now}[{window}]) < on (job, instance) group_left () {answers})\n"
            f"or {most} - min_over_time({now}[{window}]) unless resets({now}[{window}]) > 0\n"
            f"or round(increase({now}[{window}]))"
        )
        # The sum also takes away the name, which a series would keep that is taken as it is.
        indented = grown.replace("\n", "\n  ")
        return f"sum without ({', '.join(self.over)}) (\n  {indented}\n)"
