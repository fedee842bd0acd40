"""Trials of one system; as a package, so that the system ends with the last of them."""
