"""``fairlead observe``: groups that a data plane shares out by itself, seen from outside."""
