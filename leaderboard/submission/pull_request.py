"""Check what a pull request adds to leaderboard/published; for any CI:

    python -m bell_bench_leaderboard.submission.pull_request BASE [HEAD]

Reads the added files out of git without checking them out, so that the code that judges them is
that of the installed bell-bench and never the pull request's own.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from bell_bench_leaderboard.submission.contents import LIMITS
from bell_bench_leaderboard.submission.refused import shown

FOLDER = "leaderboard/published"
PLAIN = "100644"
"""The mode of a plain file in git."""


@dataclass(frozen=True)
class Change:
    """One file that differs, as git tells it."""

    path: str
    status: str
    """A, M, D or T."""
    mode: str
    blob: str


def main(arguments: list[str]) -> int:
    """0 if all that was added is sound; else the worst of ``validate``'s exit codes."""
    if len(arguments) not in (1, 2):
        print(f"usage: {__doc__}", file=sys.stderr)
        return 2
    base, head = arguments[0], arguments[1] if len(arguments) == 2 else "HEAD"
    try:
        found = list(changes(base, head))
        codes = [judge(change) for change in found]
    except subprocess.CalledProcessError as error:
        print(f"git failed: {shown(error.stderr.decode(errors='replace'))}", file=sys.stderr)
        return 2
    print(f"{len(found)} changed files in {FOLDER}, {sum(map(bool, codes))} refused")
    return max(codes, default=0)


def changes(base: str, head: str) -> Iterator[Change]:
    """What ``head`` changed in the folder since it left ``base``."""
    told = _git("diff", "--raw", "-z", "--no-renames", "--no-abbrev", f"{base}...{head}", "--",
                FOLDER).decode(errors="replace").split("\0")  # fmt: skip
    for line, path in zip(told[0::2], told[1::2], strict=False):
        _, mode, _, blob, status = line.split(" ")
        yield Change(path, status, mode, blob)


def judge(change: Change) -> int:
    """Validate an added submission; refuse changes of accepted ones; leave the rest to people."""
    name = shown(change.path)
    if change.status == "A" and change.mode != PLAIN:
        print(f"{name}: refused: it is no plain file (mode {change.mode})")
        return 1
    if not change.path.endswith(".zip"):
        print(f"{name}: no submission, left to the reviewers")
        return 0
    if change.status != "A":
        print(f"{name}: refused: accepted results are neither changed nor removed; add a new file")
        return 1
    if int(_git("cat-file", "-s", change.blob)) > LIMITS.archive:
        print(f"{name}: refused: it has more than {LIMITS.archive:,} bytes")
        return 2
    from bell_bench.cli.verbs import run

    print(f"{name}:", flush=True)
    with tempfile.TemporaryDirectory(prefix="bell-bench-validate-") as folder:
        file = pathlib.Path(folder) / "submission.zip"
        file.write_bytes(_git("cat-file", "blob", change.blob))
        return run(["validate", str(file)])


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
