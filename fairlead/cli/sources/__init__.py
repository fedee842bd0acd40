"""How commands read what they show: topics, recordings, `fairlead serve`, the data cluster."""
