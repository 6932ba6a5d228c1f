"""Checks that a submission's figures follow from its predictions on the problems that it names."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bell_bench.files import sha256
from bell_bench.records import Job, JobAccuracies, Record
from bell_bench.records.packed.arrays import Arrays
from bell_bench.records.packed.refused import shown
from bell_bench.records.packed.submission import Claim, Submission
from bell_bench.records.scores import recorded_scores
from bell_bench_submissions.figures import all_scores, array_names, figures
from bell_bench_submissions.truth import (
    Truth,
    Truths,
    Uncheckable,
    misnamed,
    suite_of,
)

TOLERANCE = 1e-9
"""The allowed difference in points. Accuracies are exact ratios; only the order of a sum may differ
between versions."""

ALWAYS_STATED = ("A", "F", "Tr_last", "backward_transfer")
"""The scores that the manifest of every release states."""

Watch = Callable[[Sequence[str]], Iterable[str]]
"""Yields the job names, and shows the progress."""


@dataclass(repr=False)
class Report:
    """Everything that was found. Printed, it is what ``bell-bench validate`` prints."""

    faults: list[str] = field(default_factory=list)
    """The mismatches; each of them makes the submission unsound."""
    unchecked: list[str] = field(default_factory=list)
    """What could not be checked here, and why."""
    remarks: list[str] = field(default_factory=list)
    """What a person may want to look at, though it is not a fault."""
    jobs: dict[str, Job] = field(default_factory=dict)
    """The jobs with a readable record, by name."""
    statuses: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """The recomputed scores, by job name."""
    submitted: int = 0
    """How many jobs the file names, readable or not."""
    by: str = ""
    """The submitter's name, as stated in the file."""

    @property
    def verdict(self) -> str:
        """Whether it is sound, in a sentence or two."""
        if self.faults:
            return f"NOT sound: {len(self.faults)} mismatches"
        if self.unchecked:
            return "neither sound nor unsound: not everything could be checked here"
        return (
            "sound: hashes, schema and completeness are right; problems and test labels are those "
            "made again from the seeds; A, F, Tr⁻¹, backward transfer, matrices and accuracies are "
            "those recomputed from the predictions\n"
            "not checked: seconds and memory, which nobody can recompute; FLOPs, stored bytes and "
            "that the named algorithm made the predictions, which only running jobs again can"
        )

    def __repr__(self) -> str:
        counts = Counter(self.statuses.values())
        statuses = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        by = f", submitted by {shown(self.by)}" if self.by else ""
        return "\n".join(
            [
                f"{self.submitted} jobs ({statuses or 'none readable'}){by}",
                *(f"cannot be checked here: {line}" for line in self.unchecked),
                *(f"remark: {line}" for line in self.remarks),
                *(f"mismatch: {line}" for line in self.faults),
                self.verdict,
            ]
        )


def check(submission: Submission, watch: Watch = iter) -> Report:
    """Check everything, and report every mismatch, not only the first."""
    report = Report(
        faults=list(submission.faults()),
        submitted=len(submission.jobs),
        by=submission.manifest.name,
    )
    truths = Truths()
    done: dict[str, JobAccuracies] = {}
    by_predictions: dict[str, list[str]] = {}
    for name in watch(submission.jobs):
        entry = submission.entry(name)
        report.faults += [f"{name}: {fault}" for fault in entry.faults]
        if entry.record is None:
            continue
        report.jobs[name] = entry.record.job
        report.statuses[name] = entry.record.status
        try:
            faults, found = _check_job(entry.record, entry.predictions, truths)
        except Uncheckable as error:
            report.unchecked += [str(error)] if str(error) not in report.unchecked else []
            continue
        report.faults += [f"{name}: {fault}" for fault in faults]
        if found is not None and entry.predictions is not None:
            done[name] = found
            by_predictions.setdefault(_digest(entry.record.job, entry.predictions), []).append(name)
    report.metrics = all_scores(report.jobs, done)
    report.faults += _check_claims(submission, report)
    report.faults += _check_completeness(list(report.jobs.values()))
    report.remarks += _equal_predictions(report.jobs, by_predictions.values())
    return report


def _check_job(
    record: Record, predictions: Arrays | None, truths: Truths
) -> tuple[list[str], JobAccuracies | None]:
    """Return the faults of one job by what its suite says, and its scores if it is done and its
    predictions can be used."""
    if wrong := misnamed(suite_of(record.job), record.job):
        return wrong, None
    truth = truths.of(record.job)
    faults = [*_check_problems(record, truth), *_check_settings(record, truth)]
    if not record.done:
        return [*faults, *_check_no_scores(record)], None
    if len(record.problems) != len(truth.problems):
        faults.append(
            f"its status is done, but it has {len(record.problems)} problems of "
            f"{len(truth.problems)}"
        )
    if predictions is None:
        return faults, None
    faults += (unusable := list(_check_arrays(predictions, truth)))
    if unusable:
        return faults, None
    found = figures(predictions, [problem.labels for problem in truth.problems])
    return [*faults, *_check_figures(record, found)], found


def _check_problems(record: Record, truth: Truth) -> Iterator[str]:
    for index, (stated, true) in enumerate(zip(record.problems, truth.problems, strict=False)):
        if stated.index != index:
            yield f"problem {index} is numbered {stated.index}"
        for name in ("name", "classes", "fingerprint", "test_fingerprint"):
            if getattr(stated, name) != getattr(true, name):
                yield (
                    f"problem {index}: {name} is stated as {shown(getattr(stated, name))}; made "
                    f"again from the seed it is {getattr(true, name)}"
                )
    if len(record.problems) > len(truth.problems):
        yield f"it has {len(record.problems)} problems; its sequence has {len(truth.problems)}"


def _check_settings(record: Record, truth: Truth) -> Iterator[str]:
    """Compare the settings. Records of other versions may hold fewer or more settings, or none."""
    for name, stated in (record.settings or {}).items():
        true = truth.settings.get(name)
        if isinstance(stated, dict) and isinstance(true, dict):
            for key in stated.keys() & true.keys():
                if stated[key] != true[key]:
                    yield f"settings.{name}.{key} is {shown(stated[key])}, not {shown(true[key])}"
        elif stated != true:
            yield f"settings.{name} is {shown(stated)}, not {shown(true)}"


def _check_no_scores(record: Record) -> Iterator[str]:
    """Yield a fault if a job that is not done states scores: no predictions support them."""
    stated = [(each.accuracy_learnt, each.accuracy_final) for each in record.problems]
    if any(each != (None, None) for each in stated) or record.matrix or record.metrics:
        yield f"its status is {record.status}, but it states accuracies"


def _check_arrays(arrays: Arrays, truth: Truth) -> Iterator[str]:
    """Yield a fault for each reason why the predictions cannot be scored: missing arrays, wrong
    lengths or classes, false labels."""
    expected = array_names(len(truth.problems))
    for name in sorted(expected ^ set(arrays)):
        yield f"predictions: {name} {'is missing' if name in expected else 'is not expected'}"
    for name in sorted(expected & set(arrays)):
        index = int(name.rpartition("_")[2])
        array, true = arrays[name], truth.problems[index]
        if len(array) != len(true.labels):
            size = len(true.labels)
            yield f"predictions: {name} has {len(array)} entries; its test set has {size}"
        elif name.startswith("labels_"):
            if wrong := int(np.sum(array != true.labels)):
                yield (
                    f"predictions: {name}: {wrong} of {len(array)} labels are not those made again "
                    "from the seed"
                )
        elif len(array) and not 0 <= int(array.min()) <= int(array.max()) < true.classes:
            yield f"predictions: {name} names classes beyond the problem's {true.classes}"
    yield from _check_repeats(arrays, len(truth.problems))


def _check_repeats(arrays: Arrays, count: int) -> Iterator[str]:
    """Yield a fault if predictions that the harness keeps twice are not the same both times."""
    pairs = [(f"learnt_{i}", f"after_{i}_{i}") for i in range(count)]
    pairs += [(f"final_{i}", f"after_{count - 1}_{i}") for i in range(count)]
    for one, other in pairs:
        if one in arrays and other in arrays and not np.array_equal(arrays[one], arrays[other]):
            yield f"predictions: {one} and {other} differ, but should be the same"


def _check_figures(record: Record, found: JobAccuracies) -> Iterator[str]:
    """Compare every figure that the record states."""
    for index, stated in enumerate(record.problems[: len(found.final)]):
        for name, value, shares in (
            ("learnt", stated.accuracy_learnt, found.learnt),
            ("final", stated.accuracy_final, found.final),
        ):
            yield from _compare(f"problem {index}: accuracy_{name}", value, shares[index])
    if [len(row) for row in record.matrix] != [len(row) for row in found.matrix]:
        yield f"its matrix has {len(record.matrix)} rows, or rows of other lengths than 1, 2, …"
    else:
        for t, row in enumerate(found.matrix):
            for i, true in enumerate(row):
                yield from _compare(f"matrix[{t}][{i}]", record.matrix[t][i], true)
    scores = recorded_scores(found)
    for name, value in (record.metrics or {}).items():
        if name in scores:
            yield from _compare(f"metrics.{name}", value, scores[name])
        else:
            yield f"metrics.{shown(name)} is a figure that cannot be checked here"


def _compare(name: str, stated: float | None, true: float | None) -> Iterator[str]:
    if stated is None or true is None:
        if stated is not true:
            yield f"{name} is stated as {stated}; recomputed it is {true}"
    elif abs(stated - true) > TOLERANCE:
        yield f"{name} is stated as {stated:.10g}; recomputed it is {true:.10g}"


def _check_claims(submission: Submission, report: Report) -> Iterator[str]:
    """Compare what the manifest says of every job."""
    for name, claim in submission.manifest.jobs.items():
        if name not in report.statuses:
            continue  # its record could not be read, which is already among the faults
        status = report.statuses[name]
        if claim["status"] != status:
            yield f"{name}: its status is {status}; the manifest says {claim['status']}"
        if status != "done":
            if any(value is not None for key, value in claim.items() if key != "status"):
                yield f"{name}: it is not done, but the manifest states figures"
        elif name in report.metrics:
            yield from _check_stated(name, claim, report.metrics[name])


def _check_stated(name: str, claim: Claim, found: Mapping[str, float | None]) -> Iterator[str]:
    """Compare the scores that a manifest states. Every manifest must state the oldest scores; one
    of an earlier release lacks the newer ones."""
    stated = {key: value for key, value in claim.items() if key != "status"}
    for key in sorted({*ALWAYS_STATED, *stated}):
        if key not in found:
            yield f"{name}: manifest: {shown(key)} is a figure that cannot be checked here"
        else:
            value = stated.get(key)
            told = value if isinstance(value, float | int | None) else None
            yield from _compare(f"{name}: manifest: {key}", told, found[key])


def _check_completeness(jobs: list[Job]) -> Iterator[str]:
    """Yield a fault if something is left out that would make the rest look better: the standalone
    runs that Tr⁻¹ needs, or a realisation or seed between 0 and the last."""
    standalone = {job.problems for job in jobs if job.is_standalone}
    grid: dict[str, list[Job]] = {}
    for job in jobs:
        if job.problems not in standalone:
            yield f"{job.name}: the standalone run (sa) that its Tr⁻¹ needs is not here"
        place = (job.algorithm, job.load, job.suite, job.suite_version, job.sequence, job.scale,
                 job.data, sorted(job.imported.items()), job.protocol,
                 sorted(job.options.items()))  # fmt: skip
        grid.setdefault(repr(place), []).append(job)
    for found in grid.values():
        yield from _check_grid(found)


def _check_grid(jobs: list[Job]) -> Iterator[str]:
    """Yield a fault unless one algorithm on one sequence has every realisation up to the last, each
    with every seed."""
    here = {(job.realisation, job.seed) for job in jobs}
    counts = (len({realisation for realisation, _ in here}), len({seed for _, seed in here}))
    whole = {(realisation, seed) for realisation in range(counts[0]) for seed in range(counts[1])}
    if here != whole:
        told = ", ".join(f"r{realisation} s{seed}" for realisation, seed in sorted(here))
        yield (
            f"{jobs[0].algorithm} on {shown(jobs[0].sequence)} has {shown(told)}: realisations and "
            "seeds must count from 0 without gaps, so that nobody can choose the lucky ones"
        )


def _equal_predictions(jobs: Mapping[str, Job], groups: Iterable[list[str]]) -> Iterator[str]:
    """Yield which algorithms made the same predictions. Modular algorithms that choose the same
    paths do so; a copy would do so too."""
    pairs: Counter[tuple[str, str]] = Counter()
    for names in groups:
        algorithms = sorted({jobs[name].algorithm for name in names})
        pairs.update(itertools.combinations(algorithms, 2))
    for (one, other), count in sorted(pairs.items()):
        yield f"{one} and {other} predict exactly the same in {count} jobs"


def _digest(job: Job, arrays: Arrays) -> str:
    """Return a key that is equal for two jobs with the same predictions on the same problems."""
    told = [f"{name}{sha256(arrays[name].tobytes())}" for name in sorted(arrays)]
    return sha256(f"{job.problems}{told}".encode())
