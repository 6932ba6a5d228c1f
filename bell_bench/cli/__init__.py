"""The command line, one module per verb; none is imported before it is asked for."""

from __future__ import annotations


def main() -> None:
    """The ``bell-bench`` command. Being told to end is as clean an end as Ctrl-C's."""
    import signal
    import sys

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from bell_bench.cli.verbs import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
