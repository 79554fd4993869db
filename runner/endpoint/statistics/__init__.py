"""Statistics of endpoint benchmarks: pure functions from trials to the figures of a summary."""
