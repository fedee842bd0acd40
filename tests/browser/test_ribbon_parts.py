"""What the ribbon is made of, asked in the browser: spans, gaps, looks, and the window of time."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.browser.visit import Visit

Asking = Callable[[str, str, Any], Any]

_ASK: Final = """async ([file, given]) => {
  const part = await import(new URL(`console/js/${file}`, document.baseURI));
  WORK
}"""
QUEUE: Final = ["orders", "main", 0]


@pytest.fixture
def ask(visit: Callable[..., Visit]) -> Asking:
    """Run work on a module of the console: ``part`` is the module, ``given`` what it is given."""
    person = visit()
    person.open("groups")

    def asked(file: str, work: str, given: Any = None) -> Any:
        return person.page.evaluate(_ASK.replace("WORK", work), [file, given])

    return asked


def span(client: str, begins: int | None, ends: int | None, **more: Any) -> dict[str, Any]:
    """Return a span of the ribbon."""
    number = 0 if begins is None else begins
    told = {"client_id": client, "epoch": [1, number], "begins_ms": begins, "ends_ms": ends}
    return {**told, "waits": False, **more}


def ribbon(begins: int, *spans: dict[str, Any], now: int = 1000) -> dict[str, Any]:
    """Return a ribbon of one queue, as the server tells it."""
    marks = [
        {"at": ["decisions", 0, each["begins_ms"]], "append_ms": each["begins_ms"]}
        for each in spans
        if each["begins_ms"] is not None and each["begins_ms"] >= begins
    ]
    rows = [{"queue": QUEUE, "spans": [*spans]}]
    clients = sorted({each["client_id"] for each in spans})
    told = {"from_ms": begins, "now_ms": now, "kept_since_ms": 0, "rows": rows}
    return {**told, "marks": marks, "clients": clients}


_MODEL: Final = """
  const model = new part.RibbonModel();
  for (const [name, told] of given) model[name](told);
  return {
    clients: model.rows[0].spans.map((each) => [each.client_id, each.ends_ms]),
    marks: model.marks.map((each) => each.append_ms), from: model.from_ms, version: model.version,
  };
"""


def test_a_look_back_is_put_in_front_and_tells_nothing_twice(ask: Asking) -> None:
    """Spans that a look back and the stream both tell are there once, as the stream tells them."""
    shared = span("b", 300, None)
    stream = ribbon(500, {**shared, "ends_ms": 700}, span("c", 710, None))
    back = ribbon(100, span("a", 100, 290), shared, now=990)
    found = ask("ribbon/model.js", _MODEL, [["take", stream], ["extend", back]])
    assert found["clients"] == [["a", 290], ["b", 700], ["c", None]]
    assert found["marks"] == [100, 300, 710]
    assert found["from"] == 100


def test_a_change_takes_the_place_of_what_the_stream_told(ask: Asking) -> None:
    """A changed row replaces what the stream told of it; what was over before it stays."""
    stream = ribbon(500, span("b", 300, None), span("x", 600, None, waits=True))
    back = ribbon(100, span("a", 100, 290))
    change = {"rows": [{"queue": QUEUE, "spans": [span("b", 300, 800), span("c", 810, None)]}]}
    work = [["take", stream], ["extend", back], ["change", {**change, "now_ms": 900}]]
    found = ask("ribbon/model.js", _MODEL, work)
    assert found["clients"] == [["a", 290], ["b", 800], ["c", None]]
    again = ask("ribbon/model.js", _MODEL, [*work, ["change", {"now_ms": 950}]])
    assert again["version"] == found["version"], "the clock alone is no change"


_ITEMS: Final = """
  const items = part.itemsOf({ spans: given.spans }, given.from, given.to, given.now);
  return items.map(({ kind, from, to }) => [kind, Number.isFinite(from) ? from : null, to]);
"""


def test_a_gap_lies_between_owners_and_goes_on_if_there_is_no_next(ask: Asking) -> None:
    """A row has its owners and gaps in order, and a client that waits makes no gap shorter."""
    spans = [span("a", None, 200), span("b", 250, 400), span("c", 390, None, waits=True)]
    window = {"from": 0, "to": 1000, "now": 900}
    found = ask("ribbon/model.js", _ITEMS, {"spans": spans, **window})
    assert found == [
        ["span", None, 200],
        ["gap", 200, 250],
        ["span", 250, 400],
        ["waits", 390, 900],
        ["gap", 400, 900],
    ]
    later = ask("ribbon/model.js", _ITEMS, {"spans": spans, **window, "from": 220, "to": 260})
    assert later == [["gap", 200, 250], ["span", 250, 400]]


_LOOKS: Final = """
  const palette = new part.Palette();
  return given.map((clients) => [...palette.lookOf(clients, clients)]);
"""


def test_twelve_clients_never_look_alike_and_keep_their_looks(ask: Asking) -> None:
    """Each pair of colour and pattern is one client's; who comes or goes changes nobody else's."""
    twelve = [f"10.0.0.{number}@{4000 + number}#billing-worker" for number in range(12)]
    first, fewer, again = ask(
        "ribbon/palette.js", _LOOKS, [twelve, twelve[3:], [*twelve, "10.0.1.9@4099#billing-worker"]]
    )
    looks = {client: (look["colour"], look["pattern"]) for client, look in first}
    assert len(set(looks.values())) == len(twelve)
    for other in (fewer, again):
        for client, look in other:
            if client in looks:
                assert (look["colour"], look["pattern"]) == looks[client]
    labels = [look["label"] for _, look in again]
    assert len(set(labels)) == len(labels)
    assert all(len(each) <= 10 and "billing" not in each for each in labels)


@pytest.mark.parametrize(
    "query, window",
    [
        ({}, {"from": 9_100_000, "to": 10_000_000, "follows": True}),
        ({"from": "-60000"}, {"from": 9_940_000, "to": 10_000_000, "follows": True}),
        ({"from": "5", "to": "9"}, {"from": 5, "to": 9, "follows": False}),
        ({"from": "9", "to": "5"}, {"from": 9_100_000, "to": 10_000_000, "follows": True}),
        ({"from": "soon"}, {"from": 9_100_000, "to": 10_000_000, "follows": True}),
    ],
)
def test_an_address_names_a_window(
    ask: Asking, query: dict[str, str], window: dict[str, Any]
) -> None:
    """The address names two moments, or how far to look back; what is neither names nothing."""
    work = "return part.windowOf(given, 10_000_000)"
    assert ask("group/window.js", work, query) == window


def test_a_moment_is_within_its_window(ask: Asking) -> None:
    """Who goes to a moment sees it; who comes back follows the present."""
    view = {"from": 9_000_000, "to": 9_900_000, "follows": True}
    work = "return part.windowAt(given[0], given[1], 10_000_000)"
    there = ask("group/window.js", work, [view, 4_000_000])
    assert there["from"] < 4_000_000 < there["to"]
    assert not there["follows"]
    back = ask("group/window.js", work, [there, None])
    assert back == {"from": 9_100_000, "to": 10_000_000, "follows": True}


def test_a_what_if_survives_its_address(ask: Asking) -> None:
    """What an address keeps is what was asked; what is no such body asks nothing."""
    work = """
      const members = ["new-1"];
      const ruled = part.withRule(given, "capacity", ["a"], { client_id: "a", capacity: "2" });
      const body = part.withJoins(ruled, 2, members);
      return [body, part.bodyOf(part.textOf(body)), part.bodyOf("no JSON"), part.textOf(given)];
    """
    empty: dict[str, list[Any]] = {
        key: [] for key in ("joins", "leaves", "routes", "rules", "unset")
    }
    body, kept, nothing, text = ask("whatif/change.js", work, empty)
    assert kept == body
    assert [each["client_id"] for each in body["joins"]] == ["new-2", "new-3"]
    assert nothing == empty
    assert text is None
