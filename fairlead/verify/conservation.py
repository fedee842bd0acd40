"""S11: no appended record is lost, and each refused record has its dead letter."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from fairlead.recording import RecordingFolder
from fairlead.verify.facts import ShardFacts
from fairlead.verify.verdicts import Evidence, Verdicts, evidence_of
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason

__all__ = ["Letters", "RowPlace", "judge_conservation", "read_letters"]

_BY_OTHERS: Final = (Reason.SKIPPED, Reason.UNSUPPORTED_KIND, Reason.UNSUPPORTED_RULE)
"""Reasons that leave open whether a row is well formed: an operator skipped it unread, or the
engine was too old to know it."""
_FORMS: Final = frozenset(str(reason) for reason in Reason if reason not in _BY_OTHERS)
_COMPLETE: Final = ("heartbeats", "releases", "decisions", "requests", "rejects")
RowPlace = tuple[str, int, int]


@dataclass(slots=True)
class Letters:
    """The dead letters of a recording.

    Attributes:
        reasons: why the engine refused each row, by its place.
        rows: the dead letter of each row, by the row's place.
        counts: of rows by reason; a letter that the engine wrote twice counts once.
    """

    reasons: dict[RowPlace, str] = field(default_factory=dict)
    rows: dict[RowPlace, RawRecord] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def read_letters(recording: RecordingFolder, verdicts: Verdicts) -> Letters:
    """Read the rejects topic. Two different letters of one row are a finding.

    Raises:
        RecordingError: the recording is damaged.
    """
    letters = Letters()
    for row in recording.all_rows("rejects"):
        try:
            body = orjson.loads(row.value or b"")
            place = (str(body["at"][0]), int(body["at"][1]), int(body["at"][2]))
            reason = str(body["reason"])
        except (ValueError, KeyError, TypeError, LookupError) as error:
            text = f"a dead letter cannot be read ({type(error).__name__}: {error})"
            verdicts.add_finding("S11", text, evidence_of(row, "this is the record"))
            continue
        bare = row._replace(key=None, value=None)
        known = letters.reasons.setdefault(place, reason)
        letters.rows.setdefault(place, bare)
        if known != reason:
            verdicts.add_finding(
                "S11",
                f"the engine refused {_text(place)} twice, for {known} and for {reason}",
                evidence_of(letters.rows[place], known),
                evidence_of(bare, reason),
            )
    letters.counts.update(letters.reasons.values())
    return letters


def judge_conservation(
    recording: RecordingFolder,
    facts: Iterable[ShardFacts],
    letters: Letters,
    read: Mapping[tuple[str, int], int],
    verdicts: Verdicts,
) -> None:
    """Judge whether the inputs are complete, and whether dead letters and refused rows match.

    Args:
        recording: the topics.
        facts: of every shard, after the whole recording was read.
        letters: the dead letters.
        read: per topic and partition, the offset up to which some decision had read.
        verdicts: collects the findings.
    """
    names = recording.manifest.names
    for suffix in _COMPLETE:
        for number, part in sorted(recording.manifest.topics[suffix].items()):
            verdicts.count("S11", "rows of topics that are not compacted", part.records)
            if part.records != part.end - part.first:
                gap = _first_gap(recording, suffix, number)
                text = f"{names.name(suffix)}/{number} lacks records between {part.first} and"
                absent = Evidence(f"{names.name(suffix)}/{number}@{gap}", "is missing")
                verdicts.add_finding("S11", f"{text} {part.end}", absent)
    malformed: dict[RowPlace, str] = {}
    for shard in facts:
        malformed |= shard.malformed
    for place, reason in sorted(malformed.items()):
        verdicts.count("S11", "malformed rows")
        if place not in letters.reasons and place[2] < read.get(place[:2], 0):
            text = f"the engine refused {_text(place)} for {reason} and wrote no dead letter"
            verdicts.add_finding("S11", text, Evidence(_text(place), reason))
    for place, reason in sorted(letters.reasons.items()):
        verdicts.count("S11", "dead letters")
        if not _is_there(recording, place):
            text = f"a dead letter names {_text(place)}, where there is no record"
            verdicts.add_finding("S11", text, evidence_of(letters.rows[place], reason))
        elif reason in _FORMS and place not in malformed:
            text = f"the engine refused {_text(place)} for {reason}, though it is well formed"
            verdicts.add_finding("S11", text, evidence_of(letters.rows[place], reason))


def _first_gap(recording: RecordingFolder, suffix: str, number: int) -> int:
    expected = recording.part(suffix, number).first
    for row in recording.rows(suffix, number):
        if row.offset != expected:
            break
        expected += 1
    return expected


def _is_there(recording: RecordingFolder, place: RowPlace) -> bool:
    suffix = recording.manifest.names.suffix(place[0])
    part = recording.manifest.topics.get(suffix or "", {}).get(place[1])
    # The topic may have deleted the row since: that is no fault of the letter.
    return part is not None and 0 <= place[2] < part.end


def _text(place: RowPlace) -> str:
    return f"{place[0]}/{place[1]}@{place[2]}"
