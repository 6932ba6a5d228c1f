"""The verbs for authors of algorithms."""
