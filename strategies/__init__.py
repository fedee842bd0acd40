"""Allocation strategies: pure, one file each, selected by name."""
