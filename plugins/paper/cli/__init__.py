"""The verbs that the paper adds to the command line."""
