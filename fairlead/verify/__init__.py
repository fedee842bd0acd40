"""The judge: compares recorded topics and journals with the promises of the protocol (ADR 0113)."""
