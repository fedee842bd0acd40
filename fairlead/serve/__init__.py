"""``fairlead serve``: a view of all groups that follows the topics and answers over HTTP."""
