"""Commands that run, check and set up the processes."""
