"""``fairlead group``: groups as they are now, and their rules."""
