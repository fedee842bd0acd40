"""Searches small worlds of the real core and client session in every order (ADR 0111)."""
