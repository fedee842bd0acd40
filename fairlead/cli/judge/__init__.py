"""Commands that record topics and judge recordings."""
