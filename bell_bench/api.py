"""What the command line does, from Python. The verbs call these functions, or the same ones below.

Every function imports what it needs when it is called, so that ``import bell_bench`` stays light.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bell_bench.errors import BellBenchError, unknown
from bell_bench.harness.progress import Tell, silent
from bell_bench.harness.ranges import MOST_REALISATIONS, check_number
from bell_bench.results import Ablation, Results, Submitted

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
    from bell_bench.results import Shown
    from bell_bench.testing import Finding
    from bell_bench_paper.reproduction import Reproduction
    from bell_bench_submissions import Report

File = str | os.PathLike[str]
Watch = Callable[[Sequence[Any]], Iterable[Any]]
"""Hands items on, and may show how far they have come."""


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
    ray_address: str | None = None,
    out: File = "runs",
    fresh: bool = False,
    quiet: bool = False,
) -> Results:
    """Run algorithms on sequences; the same call again goes on where it was stopped.

    An algorithm is a name, ``distribution:name`` or ``./file.py:Class``. No sequences: all short
    ones. ``realisations`` is how many, or which. ``options`` is ``{"picle.k": 40}``, or settings as
    on the command line. ``timeout`` is in seconds and ``memory`` in bytes, per job,
    ``parallel_paths`` how many paths a job evaluates at once where it can. ``executor``
    is ``local``, or ``ray`` for a cluster. A job that fails costs its own row, never an exception:
    look at ``results.failed``.
    """
    from bell_bench.harness.executor import JobLimits
    from bell_bench.harness.executors import make_executor
    from bell_bench.harness.plan import check_plan
    from bell_bench.harness.run import run_plan
    from bell_bench.records import ResultStore
    from bell_bench_leaderboard import read_records

    plan = _planned(algorithms, sequences, realisations, seeds, options, suite=suite, scale=scale,
                    data=data, protocol=protocol, device=device, threads=threads)  # fmt: skip
    store = ResultStore(pathlib.Path(out))
    limits = JobLimits(seconds=timeout, memory_bytes=memory, paths=parallel_paths)
    runner = make_executor(executor, store, limits, workers=jobs, address=ray_address)
    check_plan(plan, runner, fresh=fresh)
    run_plan(plan, runner, fresh=fresh, quiet=quiet)
    records = read_records(store.folder_of(job).path for job in plan.jobs)
    if lost := len(plan.jobs) - len(records):
        raise BellBenchError(
            f"{lost} of {len(plan.jobs)} results in {store.folder} cannot be read (the warnings "
            "above tell which): the same command with --fresh makes them again"
        )
    return Results(records, store.folder)


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
    """What ``evaluate`` would take, on ``machines`` with so many ``cores``, each like this one's.

    The records in ``out`` tell it where they fit, and the rest is counted. This machine is timed
    where they do not tell the seconds. ``tell`` hears how far that has come.
    """
    from bell_bench.harness.executor import cores as cores_here
    from bell_bench.harness.forecast import forecast
    from bell_bench.records import ResultStore

    asked = _planned(algorithms, sequences, realisations, seeds, options, suite=suite, scale=scale,
                     data=data, protocol=protocol, device=device, threads=threads)  # fmt: skip
    store, cores = ResultStore(pathlib.Path(out)), cores_here() if cores is None else cores
    return forecast(asked, store, cores=cores, machines=machines, tell=tell)


def leaderboard(*runs: File) -> Results:
    """The results in folders of runs, ``./runs`` by default."""
    from bell_bench_leaderboard import read_records

    folders = [pathlib.Path(run) for run in runs or ("runs",)]
    return Results(read_records(folders), folders[0])


def submit(
    *runs: File,
    out: File = "submission.zip",
    name: str = "",
    contact: str = "",
    watch: Watch = iter,
) -> Submitted:
    """Pack results, with raw predictions, into one file that others can check.

    Gives the file, and what you should know of it, such as where paths of this machine were cut.
    """
    from bell_bench.files import write_whole
    from bell_bench_submissions import pack

    folders = [pathlib.Path(run) for run in runs or ("runs",)]
    packed = pack(folders, name=name, contact=contact, watch=watch)
    write_whole(pathlib.Path(out), packed.content)
    return Submitted(
        pathlib.Path(out), len(packed.content), packed.statuses, packed.repeated, packed.shortened
    )


def validate(file: File, *, rerun: int = 0, seed: int | None = None, watch: Watch = iter) -> Report:
    """Whether a submission is sound: its ``faults``, and what could not be checked here.

    If it is, ``rerun`` jobs are run again: what agrees is a remark. ``seed`` chooses them; without
    one, a new one is drawn, and told as a remark.
    """
    from bell_bench_submissions import Submission, check
    from bell_bench_submissions.rerun import draw_seed
    from bell_bench_submissions.rerun import rerun as run_again

    check_number("--rerun", rerun, 0)
    if seed is not None:
        check_number("--seed", seed, 0)
    submission = Submission.read(pathlib.Path(file))
    report = check(submission, watch)
    if rerun and not report.faults and not report.unchecked:
        chosen = draw_seed() if seed is None else seed
        again = run_again(submission, report, rerun, chosen)
        report.faults += again.faults
        report.unchecked += again.unable
        report.remarks += [*again.agreed, f"jobs to run again were chosen by seed {chosen}"]
    return report


def show(
    run: File = "runs",
    *,
    out: File = "runs",
    problem: int | None = None,
    full: bool = False,
    picture: File | None = None,
) -> Shown:
    """The jobs of ``run``: a job's folder, part of its name, or a folder of runs.

    Printed, one job is told problem by problem and several are listed. Of one job, ``problem``
    (from 1) tells that one in full, ``full`` all of them, and ``picture`` draws a modular one's
    library and chosen paths to a PNG file. What is not finished has no record.
    """
    from bell_bench.descriptions.job_report import tell_jobs
    from bell_bench.descriptions.jobs import draw, find_jobs, require_one
    from bell_bench.records import JobFolder
    from bell_bench.results import Shown
    from bell_bench_leaderboard import read_records

    if problem is not None:
        check_number("--problem", problem, 1)
    folders = [JobFolder(path) for path in find_jobs(pathlib.Path(run), pathlib.Path(out))]
    require_one(folders, run, {"problem=": problem, "full=": full, "picture=": picture})
    text = tell_jobs(folders, problem=problem, full=full, more="problem=N or full=True")
    if picture is not None:
        draw(folders[0], folders[0].record(), pathlib.Path(picture))
    records = read_records(folder.path for folder in folders)
    return Shown(records, folders[0].path.parent, text)


def listing(kind: str, suite: str | None = None) -> list[dict[str, Any]]:
    """All algorithms, sequences, suites, data, scales or protocols; of one suite if told.

    ``avalanche`` gives Avalanche's strategies instead, and why some do not run.
    """
    from bell_bench.descriptions.listings import KINDS

    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    return KINDS[kind](suite)


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
    """All about an algorithm, sequence, suite, scale, protocol or domain.

    Print it, take its ``facts`` as JSON has them, or ``draw`` it to a PNG file where it has a
    picture. Of a name that means several things, the facts of each are in ``facts["meanings"]``.
    """
    from bell_bench.descriptions.details import Description, Wish, find

    found = find(name, Wish(suite, realisation, seed, scale, protocol, data))
    if len(found) == 1:
        return found[0]
    return Description(
        {"meanings": [each.facts for each in found]},
        "\n\n".join(each.text for each in found),
        next((each.draw for each in found if each.draw), None),
    )


def installed_plugins() -> list[PluginInfo]:
    """Every plugin: its distribution, version, what it provides, and why it is broken."""
    from bell_bench.plugins import registry

    return registry().plugins


def doctor() -> list[Check]:
    """What works on this machine, and what to do about what does not."""
    from bell_bench.descriptions.doctor import examine

    return examine()


def data_status(source: str = "images") -> list[Status]:
    """Each domain of a source: present, partial or missing, its size, licence and origin."""
    from bell_bench.data.status import statuses

    return statuses(source)


def download_data(
    *names: str, mirror: str | None = None, tell: Progress = silent
) -> list[pathlib.Path]:
    """Fetch the official images of these domains, or of BELL's nine, and check them.

    Gives the files that were fetched, none where all were here; ``tell`` hears a file's name, the
    bytes there are and the bytes there will be.
    """
    from bell_bench.data.catalogue import chosen
    from bell_bench.data.download import fetch

    return [file for collection in chosen(names) for file in fetch(collection, tell, mirror)]


def verify_data(*names: str) -> list[DataVerdict]:
    """Re-check the files that are here, of these domains or of all."""
    from bell_bench.data.verify import verify

    return verify(names)


def import_data(name: str, file: File, classes: Sequence[int] | None = None) -> pathlib.Path:
    """Bring the images in ``file`` (.npz) in as domain ``name``; gives where they are kept."""
    from bell_bench.data.imported import import_file

    return import_file(name, pathlib.Path(file), list(classes) if classes is not None else None)


def evaluation_store(out: File = "runs") -> EvaluationStore:
    """The stored path evaluations of a folder of runs: ``info()``, ``entries()``, ``verify()``,
    ``clear()``. Printed, it is what ``bell-bench cache info`` prints."""
    from bell_bench.modular.evaluations import FOLDER, EvaluationStore

    return EvaluationStore(pathlib.Path(out) / FOLDER)


def ablate_density(
    *,
    scale: str = "quick",
    data: str = "glyphs",
    seeds: int = 5,
    plot: File | None = None,
    tell: Tell = silent,
) -> Ablation:
    """Which Gaussian of N images knows its own domain among nine?

    ``plot`` is where the figure goes.
    """
    from bell_bench.ablations import load
    from bell_bench.text import table

    check_number("--seeds", seeds, 1)
    rows = load("density:run")(scale=scale, data=data, seeds=seeds, tell=tell)
    title = load("tables:density_title")(data, scale)
    if plot is not None:
        load("plots:draw_density")(rows, pathlib.Path(plot), title)
    headers, lines = load("tables:density_summary")(rows)
    return Ablation(rows, f"{title}, {seeds} seeds\n{table(lines, headers)}")


def ablate_nt_search(
    *,
    realisations: int = 5,
    scale: str = "quick",
    data: str = "glyphs",
    protocol: str = "paper",
    seeds: int = 10,
    out: File = "runs",
    plot: File | None = None,
    tell: Tell = silent,
) -> Ablation:
    """How soon does the search for latent transfer find the best suffix, and where does it stop?

    Paths are trained once, in ``out``; ``plot`` is where the figure goes.
    """
    from bell_bench.ablations import load
    from bell_bench.text import table

    check_number("--seeds", seeds, 1)
    check_number("--realisations", realisations, 1, MOST_REALISATIONS)
    rows = load("nt_search:run")(
        realisations=realisations,
        scale=scale,
        data=data,
        protocol=protocol,
        seeds=seeds,
        out=pathlib.Path(out),
        tell=tell,
    )
    title = load("tables:nt_search_title")(data, scale, protocol)
    if plot is not None:
        load("plots:draw_nt_search")(rows, pathlib.Path(plot), title)
    headers, lines = load("tables:nt_search_summary")(rows)
    text = f"{title}, {realisations} realisations, {seeds} seeds\n{table(lines, headers)}"
    return Ablation(rows, text, load("nt_search:stopping")(rows))


def reproduce(
    part: str = "all",
    *,
    scale: str | None = None,
    data: str | None = None,
    algorithms: str | Iterable[str] = (),
    sequences: str | Iterable[str] = (),
    realisations: Iterable[int] = (),
    jobs: int | None = None,
    out: File = "runs",
    given: Iterable[File] = (),
    run: bool = True,
    claims: File | None = None,
    quiet: bool = False,
) -> Reproduction:
    """Run what a part of the paper (bell, ctrl, scale, ablations or all) needs; judge its claims.

    What ``out`` has, or submissions and folders of results ``given``, is not run again; with
    ``run=False`` nothing is. Algorithms, sequences and realisations narrow it. ``claims`` is a JSON
    file in place of ours.
    """
    from bell_bench_paper import reproduction

    scope = reproduction.Scope(
        scale, data, _several(algorithms), _several(sequences), tuple(realisations)
    )
    return reproduction.reproduce(
        part,
        scope,
        out=pathlib.Path(out),
        given=[pathlib.Path(each) for each in given],
        workers=jobs,
        run=run,
        file=None if claims is None else pathlib.Path(claims),
        quiet=quiet,
    )


def check(algorithm: str, *, contracts: str | Iterable[str] = ()) -> list[Finding]:
    """Hold an algorithm to every contract, or to those named; a finding per contract.

    See ``bell_bench.testing``, which can be used in pytest.
    """
    from bell_bench.testing import CONTRACTS, examine

    return list(examine(algorithm, _several(contracts) or CONTRACTS))


def new_algorithm(
    name: str, *, kind: str = "modular", licence: str = "MIT", author: str | None = None
) -> pathlib.Path:
    """Write a distribution with an algorithm that runs; gives its folder, below the current one."""
    from bell_bench.templates import write_distribution

    return write_distribution(pathlib.Path(name), kind=kind, licence=licence, author=author)


def _planned(
    algorithms: str | Iterable[str],
    sequences: str | Iterable[str],
    realisations: int | Iterable[int],
    seeds: Iterable[int],
    options: Mapping[str, object] | Iterable[str],
    **settings: Any,
) -> Plan:
    """The jobs of what ``evaluate`` and ``plan`` are asked."""
    from bell_bench.harness.plan import Request, make_plan

    return make_plan(
        Request(
            algorithms=_several(algorithms),
            sequences=_several(sequences),
            realisations=_counted(realisations),
            seeds=tuple(seeds),
            options=_settings(options),
            **settings,
        )
    )


def _several(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _counted(realisations: int | Iterable[int]) -> tuple[int, ...]:
    """The first so many, or those named."""
    if isinstance(realisations, int):
        check_number("--realisations", realisations, 1, MOST_REALISATIONS)
        return tuple(range(realisations))
    return tuple(realisations)


def _settings(options: Mapping[str, object] | Iterable[str]) -> tuple[str, ...]:
    """Options as the command line takes them."""
    from bell_bench.options import show_value

    if isinstance(options, Mapping):
        return tuple(f"{name}={show_value(value)}" for name, value in options.items())
    return _several(options)
