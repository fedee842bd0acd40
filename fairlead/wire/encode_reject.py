"""Encodes dead letters: a refused record's reason, and enough of the record to find it again."""

from base64 import b64encode
from hashlib import sha256

from fairlead.core.outputs import Rejection
from fairlead.wire.bodies import plain_text
from fairlead.wire.encode import record_bytes
from fairlead.wire.errors import WireError
from fairlead.wire.limits import KEY_BYTES_MAX
from fairlead.wire.raw import OutgoingRecord, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["EXCERPT_BYTES", "encode_reject"]

EXCERPT_BYTES = 256


def encode_reject(
    refusal: WireError | Rejection, raw: RawRecord, names: TopicNames, engine_version: str
) -> OutgoingRecord:
    """Return the dead letter of a record that was refused for its form or by its group's state."""
    value = raw.value
    fields = {
        "reason": refusal.reason,
        "field": refusal.field,
        "detail": plain_text(refusal.detail),
        "remedy": plain_text(refusal.remedy),
        "at": [raw.topic, raw.partition, raw.offset],
        "size": None if value is None else len(value),
        "sha256": None if value is None else sha256(value).hexdigest(),
        "excerpt": None if value is None else b64encode(value[:EXCERPT_BYTES]).decode(),
        "version": engine_version,
    }
    key = raw.key if raw.key is not None and len(raw.key) <= KEY_BYTES_MAX else None
    return OutgoingRecord(names.name("rejects"), 0, key, record_bytes("reject", fields))
