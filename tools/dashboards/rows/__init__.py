"""The rows of the overview, one module each."""
