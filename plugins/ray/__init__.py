"""Jobs on the machines of a Ray cluster: an executor, and a pool of path evaluations."""
