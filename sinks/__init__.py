"""Where decisions go: one file each behind one small contract."""
