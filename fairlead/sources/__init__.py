"""Where Fairlead's topics are read from: a live cluster, or a folder of `fairlead record`."""
