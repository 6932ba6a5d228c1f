"""Which jobs a name stands for, and a job's picture."""

from __future__ import annotations

import difflib
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bell_bench.errors import UsageError

if TYPE_CHECKING:
    from bell_bench.records import Job, JobFolder, Record


def find_jobs(run: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    """Job folders: the one named, those of a folder of runs, or those in --out whose name fits."""
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
    """A name as any of its spellings: an algorithm my-idea has folders with my_idea."""
    return re.sub(r"[^a-z0-9.+]", "_", name.casefold())


def require_one(folders: Sequence[JobFolder], run: object, asked: Mapping[str, object]) -> None:
    """Refuse what is for one job, by the name it was asked under, where several are meant."""
    if len(folders) > 1 and (given := [name for name, value in asked.items() if value]):
        names = "\n  ".join(folder.path.name for folder in folders)
        raise UsageError(
            f"{given[0]} is for one job, {str(run)!r} means {len(folders)}; name one:\n  {names}"
        )


def draw(folder: JobFolder, record: Record | None, picture: pathlib.Path) -> None:
    """Draw a job to a picture file: by the picture made for its algorithm, or for all."""
    from bell_bench.import_strings import load_object
    from bell_bench.plugins import registry
    from bell_bench.specs import PictureSpec

    if record is None:
        raise UsageError(f"{folder.path.name} is not finished: there is nothing to draw yet")
    specs = [provided.spec for provided in registry().every(PictureSpec)]
    fitting = [spec for spec in specs if not spec.algorithms]
    fitting[:0] = [spec for spec in specs if record.job.algorithm in spec.algorithms]
    if not fitting:
        raise UsageError("no plugin draws a picture of such a job (`bell-bench plugins`)")
    load_object(fitting[0].load)(record, picture, _kinds(folder.job()))


def _kinds(job: Job) -> list[str]:
    """Each problem's kind in the suite's symbols, such as Ψ−; nothing if it cannot tell now."""
    from bell_bench.harness.plan import sequence_of
    from bell_bench.plugins import registry

    try:
        if registry().suite(job.suite).version != job.suite_version:
            return []
        return [str(row.get("symbol", "")) for row in sequence_of(job).describe()]
    except Exception:  # a suite that is gone or broken must not keep its results from being drawn
        return []
