"""Allocation strategies: one pure file each, found by their name."""
