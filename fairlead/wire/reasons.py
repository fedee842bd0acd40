"""The stable words for why a record is refused; docs/protocol.md lists the same words."""

from enum import StrEnum

__all__ = ["ENGINE_REASONS", "REASON_MEANINGS", "Reason", "notice_code"]


class Reason(StrEnum):
    """A stable word for one way in which a record breaks the protocol."""

    NOT_LOG_APPEND_TIME = "not_log_append_time"
    NULL_VALUE = "null_value"
    NULL_KEY = "null_key"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    BAD_NUMBER = "bad_number"
    BAD_TEXT = "bad_text"
    NOT_AN_OBJECT = "not_an_object"
    UNSUPPORTED_VERSION = "unsupported_version"
    UNSUPPORTED_KIND = "unsupported_kind"
    UNSUPPORTED_RULE = "unsupported_rule"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    BAD_VALUE = "bad_value"
    DUPLICATE_ENTRY = "duplicate_entry"
    INCONSISTENT = "inconsistent"
    KEY_MISMATCH = "key_mismatch"
    WRONG_PARTITION = "wrong_partition"
    SKIPPED = "skipped"


REASON_MEANINGS = {
    Reason.NOT_LOG_APPEND_TIME: "the topic does not use LogAppendTime; the shard stops",
    Reason.NULL_VALUE: "the value is null where a record must stand",
    Reason.NULL_KEY: "the key is null where it must name the group, topic or driver",
    Reason.TOO_LARGE: "the value has more bytes than the topic allows",
    Reason.NOT_UTF8: "the bytes are not strict UTF-8, or begin with a byte order mark",
    Reason.NOT_JSON: "the text is not exactly one JSON value",
    Reason.TOO_DEEP: "more than 16 levels of arrays and objects",
    Reason.DUPLICATE_KEY: "one object names a field twice",
    Reason.BAD_NUMBER: "a number with a fraction or exponent, NaN, infinity, or beyond 64 bits",
    Reason.BAD_TEXT: "a text holds half a surrogate pair",
    Reason.NOT_AN_OBJECT: "the value is JSON but no object",
    Reason.UNSUPPORTED_VERSION: "`v` is a later version than this reader knows",
    Reason.UNSUPPORTED_KIND: "`kind` is unknown, or does not belong on this topic",
    Reason.UNSUPPORTED_RULE: "`rule` is a word that this reader does not know",
    Reason.MISSING_FIELD: "a field is not there",
    Reason.WRONG_TYPE: "a field has another type",
    Reason.BAD_VALUE: "a field is out of its range, its words or its character set",
    Reason.DUPLICATE_ENTRY: "a list names the same thing twice",
    Reason.INCONSISTENT: "two fields contradict each other",
    Reason.KEY_MISMATCH: "the key is not the one that the value asks for, or cannot be read",
    Reason.WRONG_PARTITION: "the record stands in another partition than its group's",
    Reason.SKIPPED: "an operator had the engine pass over it (`run --skip` with its place), unread",
}
"""The meaning of each reason, in the words of the protocol page."""


ENGINE_REASONS = (
    "unknown_group", "unsupported_message_model", "quota_groups", "quota_new_groups",
    "quota_members", "quota_topics", "quota_queues", "quota_records", "quota_bytes",
    "quota_state_bytes", "unsupported_kind", "unsupported_rule", "unknown_queue",
    "position_out_of_bounds", "bad_rule", "too_many_rules", "unknown_strategy", "step_failed",
    "foreign_tick",
)  # fmt: skip
"""The words for why the engine refuses a record that is sound, in the order of the page."""


def notice_code(reason: Reason) -> str:
    """Return the code of the notice to the sender of a refused record."""
    if reason is Reason.WRONG_PARTITION:
        return "wrong_partition"
    if reason in {Reason.UNSUPPORTED_VERSION, Reason.UNSUPPORTED_KIND}:
        return "unsupported"
    return "rejected"
