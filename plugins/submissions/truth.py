"""What the suite itself says: problems, test labels and settings, made again from the seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bell_bench.data.sources import IMAGES
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.harness.plan import sequence_of, unlike_images
from bell_bench.harness.state import narrow
from bell_bench.plugins import registry
from bell_bench.records import Job
from bell_bench.records.packed.refused import shown
from bell_bench.suites.base import Suite, recorded_settings


class Uncheckable(Exception):
    """Says why a job cannot be judged here, and what would help. It is not a fault of the
    submission."""


@dataclass(frozen=True)
class TrueProblem:
    """One problem without its images."""

    name: str
    classes: int
    fingerprint: str
    test_fingerprint: str
    labels: NDArray[Any]
    """The labels of the test set."""


@dataclass(frozen=True)
class Truth:
    """One realisation of a sequence."""

    problems: list[TrueProblem]
    settings: dict[str, Any]
    """The settings in the form that a record holds."""


class Truths:
    """The realisations that jobs are checked against, each made only once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Truth | Uncheckable] = {}

    def of(self, job: Job) -> Truth:
        """Return the job's true problems; raise Uncheckable if they cannot be made here."""
        key = (job.suite, job.suite_version, job.sequence, job.realisation_seed, job.scale,
               job.protocol, job.data, *sorted(job.imported.items()))  # fmt: skip
        if key not in self._known:
            try:
                self._known[key] = _make(suite_of(job), job)
            except Uncheckable as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, Uncheckable):
            raise found
        return found


def suite_of(job: Job) -> Suite:
    """Return the suite that the job names, in the job's version; raise Uncheckable if it is not
    here."""
    try:
        suite = registry().suite(job.suite)
    except UsageError as error:
        raise Uncheckable(
            f"suite {job.suite!r} is not installed here, and without it no label can be checked: "
            f"install the distribution that provides it ({shown(str(error))})"
        ) from error
    except BellBenchError as error:
        raise Uncheckable(f"suite {job.suite!r} does not load here: {shown(str(error))}") from error
    if suite.version != job.suite_version:
        raise Uncheckable(
            f"suite {job.suite!r} has version {suite.version!r} here, and these results are of "
            f"version {job.suite_version!r}, whose problems or figures differ: check them with the "
            "bell-bench (or plugin) of that version"
        )
    return suite


def misnamed(suite: Suite, job: Job) -> list[str]:
    """Return the names in a job that its suite does not have, and its seed if that is not the
    suite's."""
    choices: list[tuple[str, str, Mapping[str, Any]]] = [
        ("sequence", job.sequence, suite.sequences),
        ("scale", job.scale, suite.scales),
        ("protocol", job.protocol, suite.protocols),
        ("data", job.data, suite.sources),
    ]
    faults = [
        f"suite {job.suite!r} has no {kind} {name!r}; it has {', '.join(known)}"
        for kind, name, known in choices
        if name not in known
    ]
    if job.sequence in suite.sequences:
        faults += _misseeded(suite, job)
    return faults


def _misseeded(suite: Suite, job: Job) -> list[str]:
    try:
        seed = suite.realisation_seed(job.sequence, job.realisation)
    except Exception as error:  # a suite may be anybody's code
        return [f"realisation {job.realisation} of {job.sequence}: {shown(str(error))}"]
    if seed == job.realisation_seed:
        return []
    return [
        f"realisation {job.realisation} of {job.sequence} has seed {seed}, not "
        f"{job.realisation_seed}"
    ]


def _make(suite: Suite, job: Job) -> Truth:
    try:
        sequence = sequence_of(job)
        if (unlike := unlike_images(job)) and job.data != IMAGES:
            raise Uncheckable(
                f"{job.sequence} with data {job.data!r}: {', '.join(unlike)} is of another version "
                "of the plugin there: install the one that was used there"
            )
        if unlike:
            raise Uncheckable(
                f"{job.sequence} with data {job.data!r}: {', '.join(unlike)} was imported, there "
                "or here, and the images differ: import the images that were used there with "
                "`bell-bench data import`, or delete those that were imported here"
            )
        if lacking := sequence.missing():
            told = "; ".join(f"{domain}: {why}" for domain, why in lacking.items())
            raise Uncheckable(
                f"{job.sequence} with data {job.data!r} needs images that are not here: {told}"
            )
        problems = []
        for index in range(len(sequence)):
            problem, test = sequence.problem(index), sequence.test(index)
            problems.append(
                TrueProblem(
                    problem.name,
                    problem.classes,
                    problem.fingerprint,
                    test.fingerprint,
                    narrow(test.labels),
                )
            )
    except Uncheckable:
        raise
    except Exception as error:  # a suite may be anybody's code
        raise Uncheckable(
            f"suite {job.suite!r} could not make {job.sequence} with seed {job.realisation_seed}: "
            f"{type(error).__name__}: {shown(str(error))}"
        ) from error
    settings = recorded_settings(suite, sequence, scale=job.scale, protocol=job.protocol)
    return Truth(problems, json.loads(json.dumps(settings)))
