"""The functions of the command line, for Python. The verbs call them, or the functions below them.

Every function imports what it needs when it is called, so that ``import bell_bench`` stays light.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bell_bench.errors import BellBenchError
from bell_bench.harness.progress import Tell, silent
from bell_bench.harness.ranges import MOST_REALISATIONS, check_number

if TYPE_CHECKING:
    from bell_bench.data.download import Progress
    from bell_bench.data.status import Status
    from bell_bench.data.verify import DataVerdict
    from bell_bench.descriptions.details import Description
    from bell_bench.descriptions.doctor import Check
    from bell_bench.harness.forecast import Forecast
    from bell_bench.harness.plan import Plan
    from bell_bench.modular.evaluations import EvaluationStore
    from bell_bench.plugins import PluginInfo
    from bell_bench.records import ReadRecord
    from bell_bench_leaderboard.results import Results

File = str | os.PathLike[str]


def evaluate(
    algorithms: str | Iterable[str],
    *,
    suite: str = "bell",
    sequences: str | Iterable[str] = (),
    scale: str | None = None,
    data: str | None = None,
    protocol: str | None = None,
    realisations: int | Iterable[int] = 1,
    seeds: Iterable[int] = (0,),
    options: Mapping[str, object] | Iterable[str] = (),
    jobs: int | None = None,
    threads: int = 1,
    device: str = "cpu",
    timeout: float | None = None,
    memory: int | None = None,
    parallel_paths: int = 1,
    executor: str = "local",
    address: str | None = None,
    ray_address: str | None = None,
    out: File = "runs",
    fresh: bool = False,
    quiet: bool = False,
) -> Results:
    """Run algorithms on sequences; the same call again goes on where it was stopped.

    An algorithm is a name, ``distribution:name`` or ``./file.py:Class``. Without sequences, all
    short ones run. ``realisations`` is how many, or which. ``options`` is ``{"picle.k": 40}``, or
    settings as on the command line. ``timeout`` (in seconds) and ``memory`` (in bytes) limit each
    job, and ``parallel_paths`` is how many paths a job evaluates at once where it can. ``executor``
    is ``local`` or a plugin's, such as ``ray``, which finds its machines at ``address``. A job that
    fails costs its own row and raises no exception: look at ``results.failed``.
    """
    if ray_address is not None:
        warnings.warn("ray_address= is written address= now", DeprecationWarning, stacklevel=2)
    from bell_bench.harness.executor import JobLimits
    from bell_bench.harness.executors import make_executor
    from bell_bench.harness.plan import check_plan
    from bell_bench.harness.run import run_plan
    from bell_bench.records import ResultStore, read_records

    plan = _planned(algorithms, sequences, realisations, seeds, options, suite=suite, scale=scale,
                    data=data, protocol=protocol, device=device, threads=threads)  # fmt: skip
    store = ResultStore(pathlib.Path(out))
    limits = JobLimits(seconds=timeout, memory_bytes=memory, paths=parallel_paths)
    runner = make_executor(executor, store, limits, workers=jobs, address=address or ray_address)
    check_plan(plan, runner, fresh=fresh)
    run_plan(plan, runner, fresh=fresh, quiet=quiet)
    records = read_records(store.folder_of(job).path for job in plan.jobs)
    if lost := len(plan.jobs) - len(records):
        raise BellBenchError(
            f"{lost} of {len(plan.jobs)} results in {store.folder} cannot be read (the warnings "
            "above tell which): the same command with --fresh makes them again"
        )
    return results_of(records, store.folder)


def plan(
    algorithms: str | Iterable[str],
    *,
    suite: str = "bell",
    sequences: str | Iterable[str] = (),
    scale: str | None = None,
    data: str | None = None,
    protocol: str | None = None,
    realisations: int | Iterable[int] = 1,
    seeds: Iterable[int] = (0,),
    options: Mapping[str, object] | Iterable[str] = (),
    threads: int = 1,
    device: str = "cpu",
    cores: int | None = None,
    machines: int = 1,
    out: File = "runs",
    tell: Tell = silent,
) -> Forecast:
    """Forecast what ``evaluate`` would take on ``machines`` with ``cores`` each, like this one's.

    The records in ``out`` are used where they fit, and the rest is counted. This machine is timed
    if the records do not give the seconds. ``tell`` is called with the progress.
    """
    from bell_bench.harness.executor import cores as cores_here
    from bell_bench.harness.forecast import forecast
    from bell_bench.records import ResultStore

    asked = _planned(algorithms, sequences, realisations, seeds, options, suite=suite, scale=scale,
                     data=data, protocol=protocol, device=device, threads=threads)  # fmt: skip
    store, cores = ResultStore(pathlib.Path(out)), cores_here() if cores is None else cores
    return forecast(asked, store, cores=cores, machines=machines, tell=tell)


def leaderboard(*runs: File) -> Results:
    """Return the results in folders of runs, ``./runs`` by default."""
    from bell_bench.records import read_records

    folders = [pathlib.Path(run) for run in runs or ("runs",)]
    return results_of(read_records(folders), folders[0])


def results_of(records: Sequence[ReadRecord], folder: pathlib.Path, text: str = "") -> Results:
    """Return records as an object that shows them, of the class that a plugin provides, ours or
    another's. ``text`` is printed in place of the table."""
    from bell_bench.plugins import registry

    versions = {}
    for name in {record.job.suite for record in records}:
        with contextlib.suppress(BellBenchError):
            versions[name] = registry().suite(name).version
    results: Results = registry().results()(records, folder, versions, text)
    return results


def show(
    run: File = "runs",
    *,
    out: File = "runs",
    problem: int | None = None,
    full: bool = False,
    picture: File | None = None,
) -> Results:
    """Return the jobs of ``run``: a job's folder, part of its name, or a folder of runs.

    Printed, one job is shown problem by problem, and several are listed. For one job, ``problem``
    (from 1) shows that problem in full, ``full`` shows all of them in full, and ``picture`` draws a
    modular job's library and chosen paths to a PNG file. An unfinished job has no record.
    """
    from bell_bench.descriptions.job_report import tell_jobs
    from bell_bench.descriptions.jobs import draw, find_jobs, require_one
    from bell_bench.records import JobFolder, read_records

    if problem is not None:
        check_number("--problem", problem, 1)
    folders = [JobFolder(path) for path in find_jobs(pathlib.Path(run), pathlib.Path(out))]
    require_one(folders, run, {"problem=": problem, "full=": full, "picture=": picture})
    text = tell_jobs(folders, problem=problem, full=full, more="problem=N or full=True")
    if picture is not None:
        draw(folders[0], folders[0].record(), pathlib.Path(picture))
    records = read_records(folder.path for folder in folders)
    return results_of(records, folders[0].path.parent, text)


def listing(kind: str, suite: str | None = None) -> list[dict[str, Any]]:
    """List algorithms, sequences, suites, data, scales, protocols, families or executors: all, or
    those of one suite.

    The name of a family, such as ``avalanche``, lists its algorithms, and why some do not run.
    """
    from bell_bench.descriptions.listings import listed

    return listed(kind, suite)


def describe(
    name: str,
    *,
    suite: str | None = None,
    realisation: int | None = None,
    seed: int | None = None,
    scale: str | None = None,
    protocol: str | None = None,
    data: str | None = None,
) -> Description:
    """Describe an algorithm, sequence, suite, scale, protocol or domain.

    Print the description, take its ``facts`` as JSON has them, or ``draw`` it to a PNG file if it
    has a picture. If the name means several things, the facts of each are in ``facts["meanings"]``.
    """
    from bell_bench.descriptions.details import Description, Query, find

    found = find(name, Query(suite, realisation, seed, scale, protocol, data))
    if len(found) == 1:
        return found[0]
    return Description(
        {"meanings": [each.facts for each in found]},
        "\n\n".join(each.text for each in found),
        next((each.draw for each in found if each.draw), None),
    )


def installed_plugins() -> list[PluginInfo]:
    """Return every plugin: its distribution, version, what it provides, and why it is broken."""
    from bell_bench.plugins import registry

    return registry().plugins


def doctor() -> list[Check]:
    """Return what works on this machine, and what to do about what does not."""
    from bell_bench.descriptions.doctor import examine

    return examine()


def data_status(source: str = "images") -> list[Status]:
    """Return each domain of a source: present, partial or missing, its size, licence and origin."""
    from bell_bench.data.status import statuses

    return statuses(source)


def download_data(
    *names: str, mirror: str | None = None, tell: Progress = silent
) -> list[pathlib.Path]:
    """Fetch the official images of these domains, or of BELL's nine, and check them.

    Return the files that were fetched: none if all were here. ``tell`` is called with a file's
    name, the bytes that are here, and the bytes that there will be.
    """
    from bell_bench.data.declared import chosen_collections
    from bell_bench.data.download import fetch
    from bell_bench.suites.bell.domains import DOMAINS

    return [
        file
        for collection in chosen_collections(names or DOMAINS)
        for file in fetch(collection, tell, mirror)
    ]


def verify_data(*names: str) -> list[DataVerdict]:
    """Check again the files that are here, of these domains or of all."""
    from bell_bench.data.verify import verify

    return verify(names)


def import_data(name: str, file: File, classes: Sequence[int] | None = None) -> pathlib.Path:
    """Import the images in ``file`` (.npz) as domain ``name``; return where they are kept."""
    from bell_bench.data.imported import import_file

    return import_file(name, pathlib.Path(file), list(classes) if classes is not None else None)


def evaluation_store(out: File = "runs") -> EvaluationStore:
    """Return the stored path evaluations of a folder of runs: ``info()``, ``entries()``,
    ``verify()``, ``clear()``. Printed, it is what ``bell-bench cache info`` prints."""
    from bell_bench.modular.evaluations import FOLDER, EvaluationStore

    return EvaluationStore(pathlib.Path(out) / FOLDER)


def _planned(
    algorithms: str | Iterable[str],
    sequences: str | Iterable[str],
    realisations: int | Iterable[int],
    seeds: Iterable[int],
    options: Mapping[str, object] | Iterable[str],
    **settings: Any,
) -> Plan:
    """Return the jobs that ``evaluate`` or ``plan`` was asked for."""
    from bell_bench.harness.plan import Request, make_plan

    return make_plan(
        Request(
            algorithms=several(algorithms),
            sequences=several(sequences),
            realisations=_counted(realisations),
            seeds=tuple(seeds),
            options=_settings(options),
            **settings,
        )
    )


def several(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single name may be given without a list."""
    return (names,) if isinstance(names, str) else tuple(names)


def _counted(realisations: int | Iterable[int]) -> tuple[int, ...]:
    """Return the first so many realisations, or those named."""
    if isinstance(realisations, int):
        check_number("--realisations", realisations, 1, MOST_REALISATIONS)
        return tuple(range(realisations))
    return tuple(realisations)


def _settings(options: Mapping[str, object] | Iterable[str]) -> tuple[str, ...]:
    """Return options as the command line takes them."""
    from bell_bench.options import show_value

    if isinstance(options, Mapping):
        return tuple(f"{name}={show_value(value)}" for name, value in options.items())
    return several(options)
