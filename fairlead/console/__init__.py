"""The console: what its pages ask for, and the live streams that they show."""
