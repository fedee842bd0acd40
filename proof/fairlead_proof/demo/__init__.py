"""The demonstration: a script that breaks things on real parts, and the judge of what happened."""
