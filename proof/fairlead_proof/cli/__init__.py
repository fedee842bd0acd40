"""Commands for Fairlead's developers: `fairlead demo` and the group `fairlead proof`."""
