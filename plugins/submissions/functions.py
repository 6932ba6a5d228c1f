"""The Python functions behind ``bell-bench submit`` and ``validate``."""

from __future__ import annotations

import os
import pathlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bell_bench.api import File
from bell_bench.files import write_whole
from bell_bench.harness.ranges import check_number
from bell_bench.records.packed import Submission
from bell_bench_submissions.check import Report, check
from bell_bench_submissions.pack import pack
from bell_bench_submissions.rerun import draw_seed
from bell_bench_submissions.rerun import rerun as run_again

Watch = Callable[[Sequence[Any]], Iterable[Any]]
"""Yields the items, and may show the progress."""


@dataclass(frozen=True, eq=False, repr=False)
class Submitted(os.PathLike[str]):
    """The file of a submission, usable wherever a path is, and what the submitter should know about
    it. Printed, it is what ``bell-bench submit`` prints."""

    file: pathlib.Path
    bytes: int
    statuses: Mapping[str, str]
    """The status of each job, by name."""
    repeated: Sequence[str]
    """Jobs that were in several folders with the same predictions; the first one was taken."""
    shortened: Sequence[str]
    """Places in records where paths of this machine were cut to their last part."""

    def __fspath__(self) -> str:
        return str(self.file)

    def __repr__(self) -> str:
        counts = Counter(self.statuses.values())
        told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        lines = [f"wrote {self.file}: {len(self.statuses)} jobs ({told}), {self.bytes:,} bytes"]
        for job, status in sorted(self.statuses.items()):
            if status != "done":
                lines.append(f"  listed as {status}: {job}")
        if self.repeated:
            lines.append(f"{len(self.repeated)} jobs were in several folders; the first was taken")
        if self.shortened:
            lines.append("paths of this machine were cut to their last part in")
            lines += [f"  {place}" for place in self.shortened]
        return "\n".join(lines)


def submit(
    *runs: File,
    out: File = "submission.zip",
    name: str = "",
    contact: str = "",
    watch: Watch = iter,
) -> Submitted:
    """Pack results, with raw predictions, into one file that others can check.

    Return the file, and what you should know about it, for example where paths of this machine were
    cut.
    """
    folders = [pathlib.Path(run) for run in runs or ("runs",)]
    packed = pack(folders, name=name, contact=contact, watch=watch)
    write_whole(pathlib.Path(out), packed.content)
    return Submitted(
        pathlib.Path(out), len(packed.content), packed.statuses, packed.repeated, packed.shortened
    )


def validate(file: File, *, rerun: int = 0, seed: int | None = None, watch: Watch = iter) -> Report:
    """Check a submission; return its ``faults``, and what could not be checked here.

    If it is sound, run ``rerun`` of its jobs again; a job that agrees is reported as a remark.
    ``seed`` chooses these jobs; without it, a new seed is drawn and reported as a remark.
    """
    check_number("--rerun", rerun, 0)
    if seed is not None:
        check_number("--seed", seed, 0)
    submission = Submission.read(pathlib.Path(file))
    report = check(submission, watch)
    if rerun and not report.faults and not report.unchecked:
        chosen = draw_seed() if seed is None else seed
        again = run_again(submission, report, rerun, chosen)
        report.faults += again.faults
        report.unchecked += again.unable
        report.remarks += [*again.agreed, f"jobs to run again were chosen by seed {chosen}"]
    return report
