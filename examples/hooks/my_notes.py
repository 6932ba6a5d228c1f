"""How ``bell-bench show`` tells the note that my_family's algorithms make."""


def tell_votes(votes, full):
    """Return the votes as a line; all of them only if all is wanted."""
    told = ", ".join(f"{count} for class {label}" for label, count in enumerate(votes))
    return f"  votes: {told}" if full else f"  votes: {max(votes)} for the most common class"
