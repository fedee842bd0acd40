"""Refuses rules that end a release: Fairlead's clients would read beside native consumers."""

from collections.abc import Iterable

from fairlead.control.native_handback import ends_release
from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.records import RuleSet
from fairlead.errors import RefusedError, Way

__all__ = ["refuse_to_end_release"]

_ALL_THE_SAME = Way(
    "give `fairlead group set` or `unset` --released-ok", 'send "released_ok": true'
)


def refuse_to_end_release(name: str, present: RulesInForce, rules: Iterable[RuleSet]) -> None:
    """Refuse rules that end a release: that is what `fairlead adopt` is for.

    Args:
        name: the group.
        present: its rules.
        rules: the rules to write.

    Raises:
        RefusedError: they end a release; the message names who released the group.
    """
    release = ends_release(present, rules)
    if release is not None:
        back = f"Take the group over instead: {release.way_back(name)}. "
        raise RefusedError(
            f"{name}: {release.words()}. The rule designated keeps Fairlead's clients out: without "
            "it they continue where they were, and read again what native consumers have read "
            "since; nothing is written.",
            remedy=(back, "To end the release all the same, ", _ALL_THE_SAME, "."),
            kind="released",
            field="released_ok",
        )
