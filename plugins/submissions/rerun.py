"""Runs some jobs of a submission again, here, and compares them with what it says.

This machine decides which code runs: the algorithm is looked up by its name and distribution among
the installed plugins. What a submission names as ``load`` is never imported.
"""

from __future__ import annotations

import pathlib
import random
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bell_bench.errors import BellBenchError
from bell_bench.files import read_arrays
from bell_bench.harness.executor import JobLimits, LocalExecutor
from bell_bench.harness.plan import Plan, Request, check_plan, make_plan
from bell_bench.harness.run import run_plan
from bell_bench.options import show_value
from bell_bench.plugins import registry
from bell_bench.records import Environment, Job, JobFolder, Record, ResultStore
from bell_bench.records.packed.refused import shown
from bell_bench.records.packed.submission import Submission
from bell_bench_submissions.agreement import compare
from bell_bench_submissions.check import Report

ACCURACIES = ("accuracy_learnt", "accuracy_final")
COUNTS = ("updates", "train_flops", "inference_flops", "paths_evaluated", "stored_bytes",
          "parameters")  # fmt: skip
"""The counts that a rerun must repeat, besides accuracies; seconds and memory depend on the
machine."""
REPORTED = 20
"""The number of differences that are reported per job."""


@dataclass
class Rerun:
    """Which jobs were run again, and how they compare."""

    agreed: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    unable: list[str] = field(default_factory=list)
    """Why some jobs cannot be run here."""


def draw_seed() -> int:
    """Return a seed that nobody can foresee, so that no submission can be made to fit it."""
    return secrets.randbelow(2**32)


def rerun(submission: Submission, report: Report, count: int, seed: int) -> Rerun:
    """Run ``count`` of the done jobs again, chosen by ``seed`` among those that can run here."""
    result = Rerun()
    able = _able(report, result)
    chosen = sorted(random.Random(seed).sample(sorted(able), min(count, len(able))))
    if not chosen:
        return result
    with tempfile.TemporaryDirectory(prefix="bell-bench-rerun-") as folder:
        store = ResultStore(pathlib.Path(folder))
        plan = Plan(tuple(able[name] for name in chosen))
        executor = LocalExecutor(store, JobLimits())
        try:
            check_plan(plan, executor)
        except BellBenchError as error:
            result.unable.append(str(error))
            return result
        run_plan(plan, executor)
        for name in chosen:
            _compare(name, submission, store.folder_of(able[name]), result)
    return result


def _able(report: Report, result: Rerun) -> dict[str, Job]:
    """Return the done jobs as this installation would run them, by their names in the
    submission."""
    able: dict[str, Job] = {}
    for name, job in report.jobs.items():
        if report.statuses[name] != "done":
            continue
        try:
            able[name] = _as_here(job)
        except BellBenchError as error:
            why = f"{job.algorithm} of {shown(job.provider)}: {shown(str(error))}"
            result.unable += [why] if why not in result.unable else []
    return able


def _as_here(job: Job) -> Job:
    """Return the same job, planned here from names alone."""
    distribution = job.distribution
    if job.load.startswith("file:") or distribution.endswith(".py"):
        raise BellBenchError("its algorithm is a file of its author, not an installed plugin")
    family, _, _ = job.algorithm.rpartition(":")
    algorithm = (
        job.algorithm if family in registry().families else f"{distribution}:{job.algorithm}"
    )
    plan = make_plan(
        Request(
            algorithms=(algorithm,),
            suite=job.suite,
            sequences=(job.sequence,),
            scale=job.scale,
            data=job.data,
            protocol=job.protocol,
            realisations=(job.realisation,),
            seeds=(job.seed,),
            options=tuple(
                f"{job.algorithm}.{name}={show_value(value)}" for name, value in job.options.items()
            ),
            device=job.device,
            threads=job.threads,
        )
    )
    return plan.asked[0]


def _compare(name: str, submission: Submission, folder: JobFolder, result: Rerun) -> None:
    """Judge one job: exactly, if the same machine and software promise the same bits; else within
    what is allowed."""
    entry, now = submission.entry(name), folder.record()
    then = entry.record
    assert then is not None
    if now is None or not now.done:
        status, told = (now.status, shown(now.reason)) if now else (None, "")
        result.faults.append(f"{name}: rerun: it ended as {status}: {told}")
        return
    unlike = list(_unlike(then.environment, now.environment))
    differences = list(_differences(then, now))
    arrays = read_arrays(folder.predictions_file)
    stated = entry.predictions or {}
    same = arrays.keys() == stated.keys() and all(
        np.array_equal(array, stated[key]) for key, array in arrays.items()
    )
    if same and not differences:
        result.agreed.append(f"{name}: rerun: the same to the bit, FLOPs and stored bytes included")
    elif not unlike:
        changed = [*differences, *([] if same else ["other predictions"])]
        result.faults += [f"{name}: rerun: {told}" for told in changed[:REPORTED]]
    else:
        found = list(compare(then, now))
        far = [each for each in found if not each.near]
        told = "; ".join(each.told for each in far or found)
        (result.faults if far else result.agreed).append(
            f"{name}: rerun: {told} (bit-identity is not promised: {', '.join(unlike)})"
        )


def _unlike(then: Environment, now: Environment) -> Iterator[str]:
    """Yield how the machine or the software differs; threads and device belong to the job
    itself."""
    for key in ("cpu", "cores", "platform", "python", "code"):
        if getattr(then, key) != getattr(now, key):
            yield f"another {key}" if key != "code" else "another commit of bell-bench"
    for package, version in now.packages.items():
        if then.packages.get(package) != version:
            yield f"{package} {shown(str(then.packages.get(package)))} then, {version} here"


def _differences(then: Record, now: Record) -> Iterator[str]:
    for before, after in zip(then.problems, now.problems, strict=True):
        pairs = [
            *((key, getattr(before, key), getattr(after, key)) for key in ACCURACIES),
            *(
                (key, getattr(before.resources, key), getattr(after.resources, key))
                for key in COUNTS
            ),
        ]
        for key, stated, found in pairs:
            if stated != found:
                yield f"problem {after.index}: {key} was {shown(stated)}, and is {found}"
    if then.matrix != now.matrix:
        yield "another accuracy matrix"
