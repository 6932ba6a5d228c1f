"""The command line, one module per verb; none is imported before it is asked for."""

from __future__ import annotations


def main() -> None:
    """The ``bell-bench`` command."""
    import sys

    try:
        from bell_bench.cli.verbs import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
