"""The PICLE paper, claim by claim: its runs, the verdicts on it, its ablations."""
