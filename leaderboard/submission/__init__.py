"""Results that others send: packed into one file, opened with suspicion, checked, rerun.

Nothing here unpacks to disk, runs what a submission names, or imports torch.
"""

from bell_bench_leaderboard.submission.check import Report, check
from bell_bench_leaderboard.submission.contents import Submission
from bell_bench_leaderboard.submission.pack import Packed, pack
from bell_bench_leaderboard.submission.refused import Refused

__all__ = ["Packed", "Refused", "Report", "Submission", "check", "pack"]
