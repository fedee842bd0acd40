"""The error of a rule that the engine refuses."""

__all__ = ["RuleError"]


class RuleError(ValueError):
    """The engine refuses a rule record, and the rule in force stays.

    ``field_path`` is the path of the offending field in the record; ``reason`` is stable.
    """

    def __init__(
        self,
        path: str,
        detail: str,
        remedy: str,
        *,
        reason: str = "bad_rule",
        field: str = "value",
    ) -> None:
        """Describe the refusal; ``path`` is the path below ``field``, or empty."""
        super().__init__(detail)
        self.reason = reason
        self.field_path = f"{field}.{path}" if path else field
        self.detail = detail
        self.remedy = remedy
