"""What authors of algorithms need: a package to start from, and the contracts to keep."""
