"""Results that others send: packed into one file, opened with suspicion, checked, rerun.

Nothing here unpacks to disk, runs what a submission names, or imports torch.
"""

from bell_bench.records.packed.refused import Refused
from bell_bench.records.packed.submission import Submission
from bell_bench_submissions.check import Report, check
from bell_bench_submissions.pack import Packed, pack

__all__ = ["Packed", "Refused", "Report", "Submission", "check", "pack"]
