"""Results in one file, as others send them: read with suspicion, never unpacked to disk."""

from bell_bench.records.packed.refused import Refused
from bell_bench.records.packed.submission import Manifest, Submission, SubmittedJob

__all__ = ["Manifest", "Refused", "Submission", "SubmittedJob"]
