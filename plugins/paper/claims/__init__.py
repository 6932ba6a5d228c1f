"""The paper, claim by claim: what it says, what was measured, and the verdict by a stated rule."""

from bell_bench_paper.claims.claims import Book, Claim, Part, Runs, read_book
from bell_bench_paper.claims.evidence import Evidence
from bell_bench_paper.claims.judging import VERDICTS, Judged, judge

__all__ = ["VERDICTS", "Book", "Claim", "Evidence", "Judged", "Part", "Runs", "judge", "read_book"]
