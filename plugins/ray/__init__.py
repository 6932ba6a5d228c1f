"""Runs jobs on the machines of a Ray cluster: an executor, and a pool for path evaluations."""
