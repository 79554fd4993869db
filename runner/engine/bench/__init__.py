"""Bench: endpoint benchmarks as a command: plan, run, resume, report."""
