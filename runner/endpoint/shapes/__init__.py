"""Load shapes: when how many requests are sent, and who counts how late they were."""
