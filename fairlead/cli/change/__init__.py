"""Commands that plan changes and carry them out."""
