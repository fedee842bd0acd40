"""Commands that follow a group and look into its past."""
