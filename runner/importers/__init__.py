"""Other people's results to our records."""
