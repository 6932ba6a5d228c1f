"""What must not go wrong when something does: each test really does it."""
