"""Results that others send: packed into one file, read with suspicion, checked, and run again.

Nothing here unpacks to disk, runs code that a submission names, or imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bell_bench.lazy import lazy_names

if TYPE_CHECKING:
    from bell_bench.records.packed import Refused, Submission
    from bell_bench_submissions.check import Report
    from bell_bench_submissions.functions import Submitted, submit, validate
    from bell_bench_submissions.pack import Packed

__all__ = ["Packed", "Refused", "Report", "Submission", "Submitted", "submit", "validate"]

__getattr__ = lazy_names(
    __name__,
    {
        "Packed": "bell_bench_submissions.pack",
        "Refused": "bell_bench.records.packed",
        "Report": "bell_bench_submissions.check",
        "Submission": "bell_bench.records.packed",
        "Submitted": "bell_bench_submissions.functions",
        "submit": "bell_bench_submissions.functions",
        "validate": "bell_bench_submissions.functions",
    },
)
