"""Which topics are looked at."""

import re

from fairlead.bridges.watch_list import ASKED_MAX, WatchList

FORGET_MS = 1_000


def watch_list(pattern: str | None = None, named: tuple[str, ...] = ()) -> WatchList:
    """A list with these settings, beside the topics of the prefix ``fairlead.``."""
    return WatchList(
        named=named,
        pattern=None if pattern is None else re.compile(pattern),
        hidden_prefix="fairlead.",
        forget_ms=FORGET_MS,
    )


def test_each_wanted_topic_is_looked_at_once() -> None:
    """Topics that are named, match, are asked for or have a route are looked at, each once."""
    watched = watch_list("pay.*", ("orders",))
    watched.discover(["payments", "orders", "prepay", "pay"])
    watched.ask("refunds", now_ms=0)
    assert watched.topics(["refunds", "stock"], now_ms=0) == [
        "orders",
        "pay",
        "payments",
        "refunds",
        "stock",
    ]


def test_in_a_flood_the_oldest_topics_are_forgotten() -> None:
    """Of too many topics that were asked for the oldest are forgotten, and no others."""
    watched = watch_list(named=("orders",))
    watched.ask("early", now_ms=0)
    for number in range(ASKED_MAX):
        watched.ask(f"invented-{number}", now_ms=0)
    watched.ask("invented-0", now_ms=0)
    watched.ask("late", now_ms=0)
    looked_at = watched.topics(["routed"], now_ms=0)
    assert len(looked_at) == ASKED_MAX + 2
    assert {"orders", "routed", "late", "invented-0"} <= {*looked_at}
    assert {"early", "invented-1"}.isdisjoint(looked_at)


def test_a_pattern_never_matches_our_own_topics() -> None:
    """A pattern that matches everything does not match Fairlead's own topics, nor Kafka's."""
    watched = watch_list(".*")
    watched.discover(["orders", "fairlead.routes", "__consumer_offsets"])
    assert watched.topics([], now_ms=0) == ["orders"]


def test_an_empty_prefix_hides_nothing() -> None:
    """An empty prefix hides nothing."""
    watched = WatchList(named=(), pattern=re.compile(".*"), hidden_prefix="", forget_ms=FORGET_MS)
    watched.discover(["orders"])
    assert watched.topics([], now_ms=0) == ["orders"]


def test_without_a_pattern_no_topic_matches() -> None:
    """Without a pattern the names of all topics are not wanted, and none matches."""
    watched = watch_list()
    assert not watched.wants_discovery
    assert watch_list("x").wants_discovery
    watched.discover(["orders"])
    assert watched.topics([], now_ms=0) == []


def test_gone_from_pattern() -> None:
    """A topic that no longer exists no longer matches; its route keeps it looked at."""
    watched = watch_list(".*")
    watched.discover(["orders"])
    watched.discover([])
    assert watched.topics([], now_ms=0) == []
    assert watched.topics(["orders"], now_ms=0) == ["orders"]


def test_a_topic_asked_for_is_forgotten_after_a_time() -> None:
    """A topic asked for is forgotten after a time, counted from the last time it was asked for."""
    watched = watch_list()
    watched.ask("orders", now_ms=0)
    watched.ask("orders", now_ms=500)
    assert watched.topics([], now_ms=500 + FORGET_MS) == ["orders"]
    assert watched.topics([], now_ms=501 + FORGET_MS) == []


def test_only_the_settings_make_a_topic_configured() -> None:
    """Only the settings make a topic configured: its name, or a match."""
    watched = watch_list("pay.*", ("orders",))
    watched.discover(["payments"])
    watched.ask("refunds", now_ms=0)
    assert [watched.is_configured(topic) for topic in ("orders", "payments", "refunds")] == [
        True,
        True,
        False,
    ]
