"""What jobs take, as the records of earlier runs tell it. Predictions are not read."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence

from bell_bench.errors import BellBenchError
from bell_bench.harness.counted import Amount
from bell_bench.harness.environment import processor
from bell_bench.harness.progress import Tell
from bell_bench.records import Job, JobFolder, Record, Resources, ResultStore


class PastRuns:
    """The finished jobs of a result store whose costs tell something about some other jobs."""

    def __init__(self, store: ResultStore, jobs: Iterable[Job], tell: Tell) -> None:
        kinds, folders = {_kind(job) for job in jobs}, list(store)
        self._records: dict[str, list[Record]] = defaultdict(list)
        for number, folder in enumerate(folders, start=1):
            if record := _finished(folder, kinds):
                self._records[_kind(record.job)].append(record)
            tell("reading records", number, len(folders))

    def on_its_sequence(self, job: Job) -> list[Record]:
        """Return the job's own record, or else all on its sequence; there may be none."""
        alike = self.elsewhere(job)
        own = [record for record in alike if record.job == job]
        return own or [record for record in alike if record.job.sequence == job.sequence]

    def elsewhere(self, job: Job) -> list[Record]:
        """Return the records of the job's algorithm on all sequences."""
        return self._records.get(_kind(job), [])


def _kind(job: Job) -> str:
    """Return what two jobs must share for the cost of one to tell the cost of the other."""
    made = (job.algorithm, job.distribution, job.options)
    return json.dumps(
        (*made, job.suite, job.suite_version, job.scale, job.protocol), sort_keys=True
    )


def _finished(folder: JobFolder, kinds: set[str]) -> Record | None:
    """Return the record of a job that is done, if it is of one of these kinds."""
    try:
        record = folder.record() if _kind(folder.job()) in kinds else None
    except (BellBenchError, OSError, ValueError) as error:
        warnings.warn(f"the costs in {folder.path} are left out: {error}", stacklevel=4)
        return None
    return record if record and record.done else None


def mean_amount(records: Sequence[Record], problems: int) -> Amount:
    """Return what so many problems take if each takes the mean of the recorded ones."""
    used = _resources(records)
    updates = sum(each.updates for each in used)
    total = Amount(
        trainings=sum(each.paths_evaluated for each in used),
        updates=updates,
        most_updates=updates,
        train_flops=sum(each.train_flops for each in used),
        inference_flops=sum(each.inference_flops for each in used),
        bytes=sum(record.problems[-1].resources.stored_bytes for record in records),
    )
    return total.times(problems / len(used))


def mean_seconds(records: Sequence[Record], problems: int, job: Job) -> float | None:
    """Return the seconds of learning that so many problems take, by the records that were made on
    this processor and as the job is; None if there are none.

    One thread's seconds are the processor's, which do not depend on what else is running.
    """
    here = processor(), job.device, job.threads
    used = _resources(
        record
        for record in records
        if (record.environment.cpu, record.job.device, record.job.threads) == here
    )
    alone = job.device == "cpu" and job.threads == 1
    seconds = sum(each.cpu_s if alone else each.wall_s for each in used)
    return problems / len(used) * seconds if used else None


def _resources(records: Iterable[Record]) -> list[Resources]:
    return [problem.resources for record in records for problem in record.problems]
