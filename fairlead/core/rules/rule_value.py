"""The error of a rule's value."""

__all__ = ["RuleValueError"]


class RuleValueError(ValueError):
    """A value of a rule makes no sense.

    ``field_path`` is the path below the value, or empty; ``reason`` is stable.
    """

    def __init__(
        self, field_path: str, detail: str, remedy: str, *, reason: str = "bad_rule"
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.field_path = field_path
        self.detail = detail
        self.remedy = remedy
