"""The metrics that ``fairlead serve`` has of native groups; docs/metrics.md is made from this list.

Groups without a place of their own (serve.max_groups) are not told.
"""

from typing import Final

from fairlead.serve.group_families import Family

__all__ = ["NATIVE_FAMILIES"]

_GROUP: Final = ("native", "group")
_SOURCE: Final = ("native",)

NATIVE_FAMILIES: Final = (
    Family("fairlead_native_group_members", "gauge", _GROUP, "Members of a native group."),
    Family(
        "fairlead_native_group_members_idle",
        "gauge",
        _GROUP,
        "Of these, members without a queue.",
    ),
    Family("fairlead_native_group_queues", "gauge", _GROUP, "Queues of the topics that it reads."),
    Family(
        "fairlead_native_group_queues_unassigned",
        "gauge",
        _GROUP,
        "Of these, subscribed ones that nobody works on; 0 while nobody says who works on what.",
    ),
    Family(
        "fairlead_native_group_queues_shared",
        "gauge",
        _GROUP,
        "Of these, queues that two members or more work on, and one should.",
    ),
    Family(
        "fairlead_native_group_lag_messages",
        "gauge",
        _GROUP,
        "Messages behind its commits, where there are any.",
    ),
    Family(
        "fairlead_native_group_problem",
        "gauge",
        (*_GROUP, "problem"),
        "1 for each problem of docs/observe.md that the newest look found.",
    ),
    Family(
        "fairlead_native_group_rebalances_total",
        "counter",
        _GROUP,
        "Rebalances that looks saw.",
    ),
    Family(
        "fairlead_native_group_moves_total",
        "counter",
        _GROUP,
        "Queues that left their owner in these rebalances.",
    ),
    Family(
        "fairlead_native_groups_folded",
        "gauge",
        _SOURCE,
        "Native groups beyond serve.max_groups, which have no series.",
    ),
    Family(
        "fairlead_native_last_look_timestamp_seconds",
        "gauge",
        _SOURCE,
        "When the newest look at a cluster's native groups ended, Unix time.",
    ),
    Family(
        "fairlead_native_look_failures_total",
        "counter",
        _SOURCE,
        "Looks at a cluster's native groups that failed.",
    ),
    Family(
        "fairlead_native_servers_unheard",
        "gauge",
        _SOURCE,
        "Servers of the cluster that did not answer in the newest look.",
    ),
)
