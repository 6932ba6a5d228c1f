"""Check what a pull request adds to leaderboard/published; for any CI:

    python -m bell_bench_submissions.pull_request BASE [HEAD]

Reads the added files from git without checking them out, so that the installed bell-bench judges
them and never code of the pull request. Added results must agree with the accepted ones, because a
worse standalone run would raise everybody's Tr⁻¹; and they must not leave these incomplete.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bell_bench.cli.verbs import run
from bell_bench.records import Record
from bell_bench.records.packed.archive import Archive
from bell_bench.records.packed.refused import Refused, shown
from bell_bench.records.packed.submission import LIMITS, Submission
from bell_bench_submissions.agreement import all_records, beyond, compare, identity

FOLDER = "leaderboard/published"
PLAIN = "100644"
"""The mode of a plain file in git."""


@dataclass(frozen=True)
class Change:
    """One file that differs, as git reports it."""

    path: str
    status: str
    """A, M, D or T."""
    mode: str
    blob: str


def main(arguments: list[str]) -> int:
    """Return 0 if everything added is sound; else the highest of ``validate``'s exit codes."""
    if len(arguments) not in (1, 2):
        print(f"usage: {__doc__}", file=sys.stderr)
        return 2
    base, head = arguments[0], arguments[1] if len(arguments) == 2 else "HEAD"
    try:
        found = list(changes(base, head))
        before = accepted(base)
        codes = [judge(change, before) for change in found]
    except subprocess.CalledProcessError as error:
        print(f"git failed: {shown(error.stderr.decode(errors='replace'))}", file=sys.stderr)
        return 2
    print(f"{len(found)} changed files in {FOLDER}, {sum(map(bool, codes))} refused")
    return max(codes, default=0)


def changes(base: str, head: str) -> Iterator[Change]:
    """Yield what ``head`` changed in the folder since it left ``base``."""
    told = _git("diff", "--raw", "-z", "--no-renames", "--no-abbrev", f"{base}...{head}", "--",
                FOLDER).decode(errors="replace").split("\0")  # fmt: skip
    for line, path in zip(told[0::2], told[1::2], strict=False):
        _, mode, _, blob, status = line.split(" ")
        yield Change(path, status, mode, blob)


def accepted(base: str) -> list[tuple[str, Record]]:
    """Return the records that ``base`` already holds, each with its file."""
    found = []
    files = _git("ls-tree", "-r", "-z", base, "--", FOLDER).decode(errors="replace")
    for line in files.split("\0"):
        described, _, path = line.partition("\t")
        if not path.endswith(".zip"):
            continue
        try:
            content = _git("cat-file", "blob", described.split(" ")[2])
            records = all_records(Submission(Archive(content, LIMITS)))
        except Refused as error:
            print(f"{shown(path)} cannot be compared: {error}", file=sys.stderr)
            continue
        found += [(path, record) for record in records]
    return found


def judge(change: Change, before: Sequence[tuple[str, Record]]) -> int:
    """Validate an added submission; refuse changes to accepted ones; leave other files to
    people."""
    name = shown(change.path)
    if change.status == "A" and change.mode != PLAIN:
        print(f"{name}: refused: it is not a plain file (mode {change.mode})")
        return 1
    if not change.path.endswith(".zip"):
        print(f"{name}: not a submission, left to the reviewers")
        return 0
    if change.status != "A":
        print(f"{name}: refused: accepted results are neither changed nor removed; add a new file")
        return 1
    if int(_git("cat-file", "-s", change.blob)) > LIMITS.archive:
        print(f"{name}: refused: it is larger than {LIMITS.archive:,} bytes")
        return 2
    print(f"{name}:", flush=True)
    with tempfile.TemporaryDirectory(prefix="bell-bench-validate-") as folder:
        file = pathlib.Path(folder) / "submission.zip"
        file.write_bytes(_git("cat-file", "blob", change.blob))
        return run(["validate", str(file)]) or _compare(all_records(Submission.read(file)), before)


def _compare(added: Sequence[Record], before: Sequence[tuple[str, Record]]) -> int:
    """Print where added results contradict accepted ones or leave them incomplete; return the exit
    code."""
    known = {
        identity(record.job): (path, record) for path, record in reversed(before) if record.done
    }
    faults = list(beyond((record for _, record in before), added))
    for record in added:
        job = record.job
        path, other = known.get(identity(job), ("", record))
        faults += [
            f"{job.algorithm} on {job.sequence} r{job.realisation} s{job.seed}: "
            f"{each.told}; accepted: {path}; run it again to see which is right"
            for each in (compare(other, record) if path and record.done else ())
            if not each.near
        ]
    for fault in faults:
        print(f"mismatch: {shown(fault, 400)}")
    return 1 if faults else 0


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
