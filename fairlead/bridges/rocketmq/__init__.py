"""The rules of a bridge to RocketMQ: what name servers say becomes routes (ADR 0219)."""
