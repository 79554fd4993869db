"""Endpoint: how fast, how reliably and how well a model endpoint answers, measured request by request."""
