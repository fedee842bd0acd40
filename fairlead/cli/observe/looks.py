"""Looks at native groups, once or again and again, and writes what was seen."""

import time
from collections.abc import Iterator
from threading import Event
from typing import Final

from fairlead.cli.interruption import stop_on_signals
from fairlead.cli.observe.look_options import LookOptions
from fairlead.cli.render.native import write_native_groups, write_rebalance
from fairlead.cli.render.output import OutputFormat, warn, write_line
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError
from fairlead.native.cluster_look import ClusterLook, NativeReader
from fairlead.native.observation import observed
from fairlead.native.rebalances import Rebalance, Rebalances

__all__ = ["rebalances_seen", "show"]

_NS_PER_MS: Final = 1_000_000


def show(groups: NativeReader, options: LookOptions) -> None:
    """Look once and write it, or look until a signal comes and write each rebalance.

    Raises:
        UsageError: there is no such group.
        VerdictError: something is wrong with a group.
        EnvironmentMissingError: the cluster does not answer.
    """
    if not options.watch:
        _write_one_look(groups, options)
        return
    write_line("watching: each rebalance becomes a line once it is over", err=True)
    for each in rebalances_seen(groups, options, stop_on_signals()):
        write_rebalance(each.to_json(), options.output)


def _write_one_look(groups: NativeReader, options: LookOptions) -> None:
    names: list[str] = []

    def wanted(name: str) -> bool:
        names.append(name)
        return options.wants(name)

    look = groups.look(wanted)
    _tell_unheard(look)
    if options.group is not None and not look.groups:
        raise UsageError(
            f"--group: the cluster has no group {options.group!r}.{_nearest(options.group, names)}",
            remedy="Leave --group out: the command then lists all groups.",
        )
    whole = options.group is not None
    found = [observed(each, planned=whole) for each in look.groups]
    write_native_groups([each.to_json() for each in found], options.output, whole=whole)
    wrong = [len(each.problems) for each in found if each.problems]
    if wrong:
        raise VerdictError(
            f"{counted(sum(wrong), 'problem')} in {len(wrong)} of {counted(len(found), 'group')}.",
            remedy="docs/observe.md explains each problem.",
        )
    if options.output is OutputFormat.TABLE:
        write_line(f"no problem in {counted(len(found), 'group')}")


def _nearest(group: str, names: list[str]) -> str:
    from fairlead.control.group_names import nearest_names

    nearest = nearest_names(group, names)
    return f" The nearest groups are {', '.join(nearest)}." if nearest else ""


def _tell_unheard(look: ClusterLook) -> None:
    for each in look.unheard:
        warn(f"a part is unknown: {each}")


def rebalances_seen(groups: NativeReader, options: LookOptions, stop: Event) -> Iterator[Rebalance]:
    """Yield each rebalance when it is over, until ``stop`` is set or the time has passed.

    After a failed look it says so once, and looks again.
    """
    history, told = Rebalances(), ""
    ends_s = None if options.seconds is None else time.monotonic() + options.seconds
    while not stop.is_set():
        try:
            look = groups.look(options.wants)
        except EnvironmentMissingError as error:
            if error.message != told:
                warn(f"{error.message} Looking again.")
            told = error.message
        else:
            unheard = "; ".join(look.unheard)
            if unheard != told:
                warn(f"a part is unknown: {unheard}" if unheard else "all servers answer again")
            told = unheard
            yield from history.note(look.groups, time.time_ns() // _NS_PER_MS)
        left_s = options.interval
        if ends_s is not None:
            left_s = min(left_s, ends_s - time.monotonic())
        if left_s <= 0:
            return
        stop.wait(left_s)
