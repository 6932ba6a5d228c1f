"""The leaderboard as one HTML file that works from disk: data, style, scripts and charts are
inside."""

from bell_bench_leaderboard.page.assemble import make_page

__all__ = ["make_page"]
