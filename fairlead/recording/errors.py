"""The error of a damaged recording."""

from fairlead.errors import UsageError

__all__ = ["RecordingError"]


class RecordingError(UsageError):
    """A folder is no recording, or a file of it is damaged, cut off or contradicts the manifest."""

    def __init__(self, place: object, detail: str, remedy: str = "") -> None:
        again = "Record it again (fairlead record), or copy the folder again as a whole."
        super().__init__(f"recording: {place}: {detail}.", remedy=remedy or again)
