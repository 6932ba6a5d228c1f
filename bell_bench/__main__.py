"""``python -m bell_bench`` is ``bell-bench``."""

from bell_bench.cli import main

if __name__ == "__main__":
    main()
