"""Simulation: do the intervals, verdicts and memberships keep what they promise on known populations?"""
