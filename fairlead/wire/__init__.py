"""Converts records to bytes and back: validation, limits and the partition rule (ADR 0020)."""
