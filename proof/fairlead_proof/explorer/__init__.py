"""Exhaustive search of small worlds: the real core and the real client session, every order.

ADR 0111 gives the reasons.
"""
