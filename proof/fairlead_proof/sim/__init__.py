"""The simulator: the real engine and client session on a virtual clock (ADR 0110)."""
