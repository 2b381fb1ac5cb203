"""One run from start to end: settings, the release, what it returns, says and saves."""
