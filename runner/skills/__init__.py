"""Prompt programs and their artifact contracts."""
