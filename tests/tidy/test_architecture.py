"""ARCHITECTURE.md names places that there are, and every room."""

import re

from tests.tidy.source_tree import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|\.md|\.toml|/))`(?:, `(\w+)`)?")
ROOM = re.compile(r"`((?:client/|proof/)?(?:fairlead|fairlead_client|fairlead_proof)/?[a-z_]*)`")


def test_every_place_of_the_map_is_there() -> None:
    """Each file and folder exists, and each function stands in the file before it."""
    places = PLACE.findall(PAGE)
    assert len(places) > 30
    for place, function in places:
        path = ROOT / place
        assert path.exists(), place
        if function:
            assert f"def {function}(" in path.read_text(encoding="utf-8"), function
    for room in ROOM.findall(PAGE):
        assert (ROOT / room).is_dir(), room


def test_every_room_is_on_the_map() -> None:
    """A newcomer finds each folder of the product in the table of rooms."""
    small = {"http", "jars", "logs", "settings"}
    rooms = {path.parent.name for path in (ROOT / "fairlead").glob("*/__init__.py")} - small
    assert {room for room in rooms if f"`fairlead/{room}`" not in PAGE} == set()
