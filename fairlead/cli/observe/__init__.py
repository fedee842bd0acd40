"""``fairlead observe rocketmq``: groups that Fairlead does not run."""
