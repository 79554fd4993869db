"""Importers: other people's results turned into our records."""
