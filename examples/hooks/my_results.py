"""Results with a logo: what every table of bell-bench is printed by."""

from bell_bench_leaderboard import Results


class MyResults(Results):
    """Our leaderboard below our logo."""

    def __repr__(self):
        return f"*** my lab ***\n{super().__repr__()}"
