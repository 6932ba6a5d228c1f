"""Find the jobs that a name stands for, and draw a job's picture."""

from __future__ import annotations

import difflib
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bell_bench.errors import UsageError
from bell_bench.import_strings import load_object
from bell_bench.plugins import registry
from bell_bench.specs import PictureSpec

if TYPE_CHECKING:
    from bell_bench.records import Job, JobFolder, Record


def find_jobs(run: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    """Return the job folder named, those in a folder of runs, or those in --out that match."""
    for folder in (run, out / run):
        if (folder / "job.json").is_file():
            return [folder]
        if found := sorted(file.parent for file in folder.glob("*/job.json")):
            return found
    names = [file.parent.name for file in out.glob("*/job.json")]
    if not names:
        raise UsageError(f"no run at {run}, and no jobs in {out}: run `bell-bench evaluate` first")
    if found := sorted(out / name for name in names if _folded(str(run)) in _folded(name)):
        return found
    near = difflib.get_close_matches(str(run), names, n=5, cutoff=0)
    raise UsageError(
        f"no run at {run}, and none of the {len(names)} jobs in {out} has that in its name; "
        f"the nearest: {', '.join(near)}"
    )


def _folded(name: str) -> str:
    """Return a name with equal spellings made equal: my-idea has folders named my_idea."""
    return re.sub(r"[^a-z0-9.+]", "_", name.casefold())


def require_one(folders: Sequence[JobFolder], run: object, asked: Mapping[str, object]) -> None:
    """Raise UsageError if several jobs are meant and an option was given that is for one job."""
    if len(folders) > 1 and (given := [name for name, value in asked.items() if value]):
        names = "\n  ".join(folder.path.name for folder in folders)
        raise UsageError(
            f"{given[0]} is for one job, but {str(run)!r} means {len(folders)}; "
            f"name one:\n  {names}"
        )


def draw(folder: JobFolder, record: Record | None, picture: pathlib.Path) -> None:
    """Draw a job to a picture file, by the drawing made for its algorithm or else for all."""
    if record is None:
        raise UsageError(f"{folder.path.name} is not finished: there is nothing to draw yet")
    specs = [provided.spec for provided in registry().every(PictureSpec)]
    fitting = [spec for spec in specs if not spec.algorithms]
    fitting[:0] = [spec for spec in specs if record.job.algorithm in spec.algorithms]
    if not fitting:
        raise UsageError("no plugin draws a picture of such a job (`bell-bench plugins`)")
    load_object(fitting[0].load)(record, picture, _kinds(folder.job()))


def _kinds(job: Job) -> list[str]:
    """Return each problem's kind in the suite's symbols, such as Ψ−; empty if unknown."""
    from bell_bench.harness.plan import sequence_of

    try:
        if registry().suite(job.suite).version != job.suite_version:
            return []
        return [str(row.get("symbol", "")) for row in sequence_of(job).describe()]
    except Exception:  # results can be drawn even if their suite is gone or broken
        return []
