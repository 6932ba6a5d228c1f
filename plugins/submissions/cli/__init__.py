"""The verbs that pack results and check them."""
