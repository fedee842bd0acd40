"""S11: nothing that was appended is lost, and what was refused has its dead letter."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from fairlead.recording import RecordingFolder
from fairlead.verify.facts import ShardFacts
from fairlead.verify.verdicts import Docket, Evidence, evidence_of
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason

__all__ = ["Letters", "Place", "judge_conservation", "read_letters"]

_BY_OTHERS: Final = (Reason.SKIPPED, Reason.UNSUPPORTED_KIND, Reason.UNSUPPORTED_RULE)
"""What an operator passed over unread, and what an older engine did not know, may be sound."""
_FORMS: Final = frozenset(str(reason) for reason in Reason if reason not in _BY_OTHERS)
_COMPLETE: Final = ("heartbeats", "releases", "decisions", "requests", "rejects")
Place = tuple[str, int, int]


@dataclass(slots=True)
class Letters:
    """The dead letters of a recording.

    Attributes:
        reasons: why each row was refused, by its place.
        rows: the dead letter of each.
        counts: of rows by reason; a letter that was written again counts once.
    """

    reasons: dict[Place, str] = field(default_factory=dict)
    rows: dict[Place, RawRecord] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def read_letters(recording: RecordingFolder, docket: Docket) -> Letters:
    """Read the rejects topic; two letters of one row that differ are a finding.

    Raises:
        RecordingError: the recording is damaged.
    """
    found = Letters()
    for row in recording.all_rows("rejects"):
        try:
            body = orjson.loads(row.value or b"")
            place = (str(body["at"][0]), int(body["at"][1]), int(body["at"][2]))
            reason = str(body["reason"])
        except (ValueError, KeyError, TypeError, LookupError) as error:
            text = f"a dead letter cannot be read ({type(error).__name__}: {error})"
            docket.find("S11", text, evidence_of(row, "this is the record"))
            continue
        bare = row._replace(key=None, value=None)
        known = found.reasons.setdefault(place, reason)
        found.rows.setdefault(place, bare)
        if known != reason:
            docket.find(
                "S11",
                f"{_text(place)} is refused twice, for {known} and for {reason}",
                evidence_of(found.rows[place], known),
                evidence_of(bare, reason),
            )
    found.counts.update(found.reasons.values())
    return found


def judge_conservation(
    recording: RecordingFolder,
    facts: Iterable[ShardFacts],
    letters: Letters,
    read: Mapping[tuple[str, int], int],
    docket: Docket,
) -> None:
    """Judge the completeness of the inputs, and letters against rows.

    Args:
        recording: the topics.
        facts: of every shard, after everything was read.
        letters: the dead letters.
        read: per topic and partition, below which offset a decision had read.
        docket: takes what is found.
    """
    names = recording.manifest.names
    for suffix in _COMPLETE:
        for number, part in sorted(recording.manifest.topics[suffix].items()):
            docket.look("S11", "rows of topics that are not compacted", part.records)
            if part.records != part.end - part.first:
                gap = _first_gap(recording, suffix, number)
                text = f"{names.name(suffix)}/{number} lacks records between {part.first} and"
                absent = Evidence(f"{names.name(suffix)}/{number}@{gap}", "is not there")
                docket.find("S11", f"{text} {part.end}", absent)
    malformed: dict[Place, str] = {}
    for shard in facts:
        malformed |= shard.malformed
    for place, reason in sorted(malformed.items()):
        docket.look("S11", "malformed rows")
        if place not in letters.reasons and place[2] < read.get(place[:2], 0):
            text = f"{_text(place)} is refused for {reason}, and has no dead letter"
            docket.find("S11", text, Evidence(_text(place), reason))
    for place, reason in sorted(letters.reasons.items()):
        docket.look("S11", "dead letters")
        if not _is_there(recording, place):
            text = f"a dead letter is of {_text(place)}, where no record stands"
            docket.find("S11", text, evidence_of(letters.rows[place], reason))
        elif reason in _FORMS and place not in malformed:
            text = f"{_text(place)} was refused for {reason}, and is what the protocol says"
            docket.find("S11", text, evidence_of(letters.rows[place], reason))


def _first_gap(recording: RecordingFolder, suffix: str, number: int) -> int:
    expected = recording.part(suffix, number).first
    for row in recording.rows(suffix, number):
        if row.offset != expected:
            break
        expected += 1
    return expected


def _is_there(recording: RecordingFolder, place: Place) -> bool:
    suffix = recording.manifest.names.suffix(place[0])
    part = recording.manifest.topics.get(suffix or "", {}).get(place[1])
    # What the topic gave up since is not held against the letter.
    return part is not None and 0 <= place[2] < part.end


def _text(place: Place) -> str:
    return f"{place[0]}/{place[1]}@{place[2]}"
