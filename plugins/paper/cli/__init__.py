"""The paper's verbs for the command line."""
