"""Tests of the console in Chromium; as a package, so that the browser ends with the last of them.

While Playwright runs in a thread, no other event loop may run there: later tests have theirs.
"""
