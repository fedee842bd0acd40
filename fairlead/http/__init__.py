"""The one HTTP server of the engine and of ``fairlead serve``: bounded, and closed to web pages."""
