"""Runs again what an engine has read, and compares what it wrote."""
