"""``fairlead serve``: the view of all groups, followed from the topics and told over HTTP."""
