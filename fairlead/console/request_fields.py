"""Whole numbers that a request names in its query."""

from starlette.requests import Request

from fairlead.http.problems import Problem

__all__ = ["BadFieldError", "number_of"]


class BadFieldError(ValueError):
    """A field of a request is wrong; `problem` says how."""

    def __init__(self, field: str, says: str, remedy: str) -> None:
        super().__init__(field)
        self.problem = Problem(400, "bad_field", f"{field}: {says}", remedy, field)


def number_of(
    request: Request, field: str, remedy: str, most: int = 999_999_999_999_999
) -> int | None:
    """Return a whole number that a request names; None: it names none.

    Raises:
        BadFieldError: it is no whole number from 0 to ``most``.
    """
    text = request.query_params.get(field)
    if text is None:
        return None
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if not plain or int(text) > most:
        raise BadFieldError(field, f"it is no whole number from 0 to {most:,}.", remedy)
    return int(text)
