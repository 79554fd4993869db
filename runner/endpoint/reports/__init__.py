"""Reports: a run of an endpoint benchmark as Markdown, HTML and CSV, from its files alone."""
