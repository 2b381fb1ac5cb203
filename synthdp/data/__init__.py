"""Where rows and counts come from, and how a row becomes integers."""
