"""Group state and shards to bytes and back, with versions and checksums (ADR 0040)."""

from fairlead.codec.errors import CodecError
from fairlead.codec.group import decode_group, encode_group, same_body
from fairlead.codec.quarantine import HeldRow, Quarantine
from fairlead.codec.shard import GroupSlot, OpenShard, ShardHeader, close_shard, open_shard
from fairlead.codec.stored import STORED_VERSION, StoredShard

__all__ = [
    "STORED_VERSION",
    "CodecError",
    "GroupSlot",
    "HeldRow",
    "OpenShard",
    "Quarantine",
    "ShardHeader",
    "StoredShard",
    "close_shard",
    "decode_group",
    "encode_group",
    "open_shard",
    "same_body",
]
