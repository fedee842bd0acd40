"""The gateway: clients in any language take part over HTTP, and need four rules (ADR 0195)."""
