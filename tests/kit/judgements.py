"""What a judge finds in a recording."""

from fairlead.recording import RecordingFolder
from fairlead.verify.judgement import Judgement, judge_recording
from fairlead.verify.verdicts import Ruling
from strategies.registry import STRATEGIES

__all__ = ["judged", "ruling_of", "told_by"]


def judged(recording: RecordingFolder) -> Judgement:
    """Judge a recording by itself, without journals."""
    return judge_recording(recording, STRATEGIES)


def ruling_of(judgement: Judgement, number: str) -> Ruling:
    """Return what was found of one invariant."""
    return next(each for each in judgement.rulings if each.number == number)


def told_by(judgement: Judgement) -> str:
    """Return every finding, a line each; nothing where all holds."""
    return "\n".join(
        f"{each.number}: {finding.text}" for each in judgement.rulings for finding in each.findings
    )
