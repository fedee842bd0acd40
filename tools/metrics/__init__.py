"""The page of all series, docs/metrics.md, made of the code and of a recorded run."""
