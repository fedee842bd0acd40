"""A whole Fairlead on this machine, each part in a process of its own: for demo and measurement."""
