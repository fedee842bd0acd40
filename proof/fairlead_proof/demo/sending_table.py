"""What a person sees of the producer's demo: a row per broker, live or in lines; the verdict."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fairlead_proof.demo.sent_messages import Ledger

if TYPE_CHECKING:
    from fairlead_proof.demo.sending_report import SendingReport

WINDOW_SECONDS: Final = 2.0
_REFRESHES_PER_SECOND: Final = 4
_LINE_SECONDS: Final = 2.0


class SendingScreen:
    """A console with the brokers' table on it while messages are sent."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._begun = time.monotonic()

    def say(self, text: str) -> None:
        """Print one line, with the seconds since the start."""
        line = f"{time.monotonic() - self._begun:6.1f} s  {text}"
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    @contextlib.contextmanager
    def showing(self, ledger: Ledger) -> Iterator[None]:
        """Show the brokers while the context lasts."""
        if self.console.is_terminal:
            with Live(
                console=self.console,
                get_renderable=lambda: broker_table(ledger),
                refresh_per_second=_REFRESHES_PER_SECOND,
            ):
                yield
            return
        ended = threading.Event()
        lines = threading.Thread(target=self._print, args=(ledger, ended), daemon=True)
        lines.start()
        try:
            yield
        finally:
            ended.set()
            lines.join()

    def _print(self, ledger: Ledger, ended: threading.Event) -> None:
        while not ended.wait(_LINE_SECONDS):
            self.say("; ".join(broker_lines(ledger)))


def broker_lines(ledger: Ledger) -> list[str]:
    """Return a few words per broker: share of the last two seconds, latency, avoidance."""
    return [
        f"broker {broker}: {share} {latency}{', avoided for ' + avoided if avoided else ''}"
        for broker, share, latency, _, avoided in _rows(ledger)
    ]


def broker_table(ledger: Ledger) -> Table:
    """Return the brokers as a table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("broker", "share of 2 s", "last latency", "attempts failed", "avoided for"):
        table.add_column(column)
    for row in _rows(ledger):
        table.add_row(*row)
    return table


def print_sending_report(report: "SendingReport", console: Console) -> None:
    """Print each requirement, and the last word."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("", "requirement", "measured", "required"):
        table.add_column(column)
    for check in report.checks:
        mark = Text("ok", style="green") if check.passed else Text("FAIL", style="bold red")
        table.add_row(mark, check.name, check.measured, check.required)
    console.print(table)
    for check in report.checks:
        if not check.passed:
            for finding in check.findings:
                console.print(Text(f"{check.name}: {finding}"), soft_wrap=True)
    attempts = ", ".join(f"{number}: {count:,}" for number, count in report.attempts.items())
    console.print(f"messages by attempts needed: {attempts}", highlight=False)
    word, style = ("PASSED", "bold green") if report.passed else ("FAILED", "bold red")
    console.print(Text(f"verdict: {word} in {report.took_s:.0f} s", style))


def _rows(ledger: Ledger) -> list[tuple[str, str, str, str, str]]:
    now = time.monotonic()
    shares = ledger.shares(now - WINDOW_SECONDS, now)
    with ledger.lock:
        known = sorted(ledger.rows.items())
        return [
            (
                broker,
                f"{shares.get(broker, 0.0):.0%}",
                f"{row.latency_ms} ms",
                str(row.failed),
                f"{row.avoided_until - now:.1f} s" if row.avoided_until > now else "",
            )
            for broker, row in known
        ]
