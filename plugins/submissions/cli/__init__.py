"""The verbs that pack results and check them, for the command line."""
