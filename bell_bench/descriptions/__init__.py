"""Descriptions of algorithms, suites, data, jobs and this machine, for the command line and the
Python API alike. Imports neither click nor torch."""
