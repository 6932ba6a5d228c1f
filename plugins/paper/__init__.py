"""The PICLE paper, claim by claim: its runs, its verdicts, its ablations."""
