"""The client's part of the handover protocol, sans input and output (ADR 0030)."""
