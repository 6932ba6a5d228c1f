"""Turn a request into jobs, and check everything that can be checked before they run."""

from __future__ import annotations

import os
import pathlib
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from bell_bench import forkserver
from bell_bench.data.sources import foreign_images
from bell_bench.errors import BellBenchError, UsageError, unknown
from bell_bench.harness.environment import software
from bell_bench.harness.executor import worker_environment
from bell_bench.harness.executors import Executor
from bell_bench.harness.ranges import MOST_THREADS, check_number
from bell_bench.import_check import try_out
from bell_bench.import_strings import load_object
from bell_bench.options import complete, parse_options
from bell_bench.plugins import PluginWarning, Provided, registry
from bell_bench.records import STANDALONE, Job
from bell_bench.specs import AlgorithmSpec
from bell_bench.suites.base import Sequence, Suite
from bell_bench.units import format_size

NEEDED_DISK = 500 * 1000**2


@dataclass(frozen=True)
class Request:
    """A request to ``evaluate``."""

    algorithms: tuple[str, ...]
    suite: str = "bell"
    sequences: tuple[str, ...] = ()
    """Empty for all short sequences."""
    scale: str | None = None
    data: str | None = None
    protocol: str | None = None
    """Scale, data source and protocol; None for the suite's first."""
    realisations: tuple[int, ...] = (0,)
    seeds: tuple[int, ...] = (0,)
    options: tuple[str, ...] = ()
    """Options as the command line takes them: ``picle.k=40``."""
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        for what, numbers in (("realisation", self.realisations), ("seed", self.seeds)):
            if not numbers:
                raise UsageError(f"no {what} was asked for; name at least one, such as 0")
            for number in numbers:
                check_number(f"--{what}", number, 0)
        check_number("--threads", self.threads, 1, MOST_THREADS)


@dataclass(frozen=True)
class Plan:
    """The jobs of a request, in the order they start."""

    jobs: tuple[Job, ...]
    added: frozenset[str] = field(default_factory=frozenset)
    """Names of the standalone jobs that nobody asked for but Tr⁻¹ needs."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Names of jobs whose algorithm does not support the suite, each with the reason."""

    @property
    def asked(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.name not in self.added)


def make_plan(request: Request) -> Plan:
    """Return all jobs of a request. Standalone jobs come last: by then the evaluation store holds
    most of the paths they need."""
    suite = registry().suite(request.suite)
    names = _sequences(request, suite)
    if not request.algorithms:
        raise UsageError("name at least one algorithm with --algo; `bell-bench list` shows them")
    algorithms = list(dict.fromkeys(request.algorithms))
    provided = {name: registry().algorithm(name) for name in algorithms}
    by_spec = [each.spec for each in provided.values()]
    if len({spec.name for spec in by_spec}) < len(by_spec):
        raise UsageError(f"two of {', '.join(algorithms)} have one name: evaluate them separately")
    given = parse_options(request.options, by_spec)
    asked = [
        job
        for each in provided.values()
        for job in _jobs(request, suite, names, each, given.get(each.spec.name, {}))
    ]
    added: list[Job] = []
    ours = registry().algorithm(STANDALONE)
    if ours not in provided.values():
        added = _jobs(request, suite, names, ours, {})
    unsupported = {
        job.name: f"{job.algorithm} supports {', '.join(suites)}, not {job.suite}"
        for job in asked
        if (suites := _spec(by_spec, job).suites) and job.suite not in suites
    }
    return Plan((*asked, *added), frozenset(job.name for job in added), unsupported)


def _spec(specs: list[AlgorithmSpec], job: Job) -> AlgorithmSpec:
    return next(spec for spec in specs if spec.name == job.algorithm)


def _sequences(request: Request, suite: Suite) -> list[str]:
    for name in request.sequences:
        if name not in suite.sequences:
            raise unknown(f"sequence of suite {suite.name}", name, suite.sequences)
    short = [info.name for info in suite.sequences.values() if info.short]
    return list(dict.fromkeys(request.sequences)) or short


def _choice(kind: str, asked: str | None, known: Mapping[str, Any]) -> str:
    """Return what was asked for if the suite has it, or the suite's first if nothing was."""
    if asked is None:
        return next(iter(known))
    if asked not in known:
        raise unknown(kind, asked, known)
    return asked


def _jobs(
    request: Request,
    suite: Suite,
    sequences: list[str],
    provided: Provided[AlgorithmSpec],
    options: Mapping[str, Any],
) -> list[Job]:
    jobs = [
        Job(
            algorithm=provided.spec.name,
            load=provided.spec.load,
            provider=provided.provider,
            suite=suite.name,
            suite_version=suite.version,
            sequence=sequence,
            realisation=realisation,
            realisation_seed=suite.realisation_seed(sequence, realisation),
            seed=seed,
            scale=_choice("scale", request.scale, suite.scales),
            data=_choice("data source", request.data, suite.sources),
            protocol=_choice("protocol", request.protocol, suite.protocols),
            options=complete(provided.spec, options),
            device=request.device,
            threads=request.threads,
            software=software(),
        )
        for realisation in dict.fromkeys(request.realisations)
        for seed in dict.fromkeys(request.seeds)
        for sequence in sequences
    ]
    return [structs.replace(job, imported=imported_images(job)) for job in jobs]


def imported_images(job: Job) -> dict[str, str]:
    """Return those of a job's domains whose images somebody imported here or another distribution
    makes, each with a hash of what determines them."""
    return foreign_images(sequence_of(job).domains, job.data)


def unlike_images(job: Job) -> list[str]:
    """Return the domains whose images are not those that the job was planned with."""
    return sorted(dict(imported_images(job).items() ^ job.imported.items()))


def sequence_of(job: Job) -> Sequence:
    """Return the realisation that a job runs on; its problems are made on demand."""
    suite = registry().suite(job.suite)
    return suite.sequence(
        job.sequence,
        seed=job.realisation_seed,
        scale=job.scale,
        protocol=job.protocol,
        data=job.data,
    )


def check_plan(plan: Plan, executor: Executor, *, fresh: bool = False) -> None:
    """Check at the beginning everything that could spoil a run at its end."""
    store = executor.store
    waiting = [job for job in plan.jobs if fresh or not store.finished(job)]
    able = [job for job in waiting if job.name not in plan.unsupported]
    _check_data(able)
    _check_disk(store.folder)
    _check_imports(plan, able, executor)


def _check_data(jobs: list[Job]) -> None:
    """Raise UsageError if images are missing; say which, how to get them, and what can run."""
    lacking: dict[str, str] = {}
    sequences: dict[str, bool] = {}
    for job in jobs:
        absent = sequence_of(job).missing()
        lacking |= absent
        sequences[job.sequence] = sequences.get(job.sequence, True) and not absent
    if not lacking:
        return
    able = [name for name, ready in sequences.items() if ready]
    lines = [f"images are missing for --data {jobs[0].data}:"]
    lines += [f"  {domain}: {why}" for domain, why in lacking.items()]
    lines += [f"ready to run: {', '.join(able) or 'none of the sequences asked for'}"]
    lines += ["see `bell-bench data list`, or use the embedded images: --data glyphs"]
    raise UsageError("\n".join(lines))


def _check_disk(out: pathlib.Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out} cannot be made: {error}") from error
    if not os.access(out, os.W_OK):
        raise UsageError(f"--out {out} cannot be written to: choose another folder")
    free = shutil.disk_usage(out).free
    if free < NEEDED_DISK:
        raise BellBenchError(
            f"only {format_size(free)} free at {out}, at least {format_size(NEEDED_DISK)} "
            "are needed: free some, or choose another --out"
        )


def _load(item: str) -> str | None:
    """Load an algorithm, or test a device given as its option; return the fault, or None."""
    import torch

    try:
        if item.startswith("--device "):
            torch.zeros(1, device=item.removeprefix("--device "))
        else:
            load_object(item)
    except BellBenchError as error:
        return str(error)
    except Exception as error:  # torch raises different kinds for different devices
        return f"{item} cannot be used: {str(error).splitlines()[0]}"
    return None


def _check_imports(plan: Plan, able: list[Job], executor: Executor) -> None:
    """Try, in another process, what would fail only later: algorithms whose jobs must wait, and
    devices other than the CPU. An algorithm that cannot be imported costs its own rows; it ends the
    run only if nothing else was asked for."""
    begun = {job.load for job in able[: executor.at_once(able)]}
    loads = sorted({job.load for job in able} - begun)
    devices = {job.device for job in able if executor.here} - {"cpu"}
    tried = sorted(f"--device {device}" for device in devices)
    environment = worker_environment(max((job.threads for job in able), default=1))
    faults = try_out(f"{__name__}:_load", [*loads, *tried], environment, begin=forkserver.start)
    nothing_left = all(job.load in faults for job in plan.asked)
    if faults and (nothing_left or faults.keys() & set(tried)):
        raise BellBenchError("\n".join(faults.values()))
    for fault in faults.values():
        warnings.warn(f"{fault}: its jobs will fail", PluginWarning, stacklevel=3)
