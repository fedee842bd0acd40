"""Commands of those who prove Fairlead: the demo, and what stands under `fairlead proof`."""
