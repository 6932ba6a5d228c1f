"""The command line: one module per verb, imported only when the verb is used."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the ``bell-bench`` command. SIGTERM ends it as cleanly as Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:  # also while the verbs are imported
        from bell_bench.cli.verbs import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
