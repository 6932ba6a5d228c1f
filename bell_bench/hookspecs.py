"""The hooks of bell-bench. A plugin implements any of them. Each example below is part of
``examples/hooks`` or ``examples/bell-bench-bandit``, which our tests install and run.

A plugin is a module (or object) behind an entry point of the group ``bell_bench``::

    [project.entry-points.bell_bench]
    my-plugin = "my_package.plugin"

Keep that module light: it is imported by every command, so what it declares are names and import
strings; what they name is imported only where it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

from bell_bench.specs import (
    AlgorithmFamilySpec,
    AlgorithmSpec,
    DomainSpec,
    ExecutorSpec,
    NoteSpec,
    PictureSpec,
    ResultsSpec,
    SourceSpec,
    SuiteSpec,
    VerbSpec,
)

if TYPE_CHECKING:
    from bell_bench.records import Job, Record

PROJECT = "bell_bench"
GROUP = "bell_bench"
"""The entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
"""Marks a hook's declaration: those below, and none of a plugin's."""
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a plugin's function, named like the hook that it implements."""


@hookspec
def bell_bench_algorithms() -> Iterable[AlgorithmSpec]:  # type: ignore[empty-body]
    """The algorithms a plugin provides. Yields or returns specs; names are unique per distribution.

    Example::

        from bell_bench import AlgorithmSpec, Option, hookimpl

        @hookimpl
        def bell_bench_algorithms():
            yield AlgorithmSpec(
                name="my-idea",
                load="my_package.my_idea:MyIdea",
                summary="Reuses the nearest earlier solution.",
                paper="Doe, 2026",
                options={"k": Option(int, 5, "How many earlier solutions are tried.")},
            )
    """


@hookspec
def bell_bench_families() -> Iterable[AlgorithmFamilySpec]:  # type: ignore[empty-body]
    """The families of algorithms a plugin provides: another library's, too many to register. A
    member is asked for as ``FAMILY:NAME``, and ``bell-bench list FAMILY`` lists them.

    Example::

        from bell_bench import AlgorithmFamilySpec, hookimpl

        @hookimpl
        def bell_bench_families():
            yield AlgorithmFamilySpec(
                name="constant",
                load="my_family:algorithm",
                summary="always says one class: constant:0, constant:1",
                members="my_family:members",
            )
    """


@hookspec
def bell_bench_domains() -> Iterable[DomainSpec]:  # type: ignore[empty-body]
    """The domains of images a plugin provides, each by a function that gives its arrays; a whole
    one is in ``examples/hooks/my_domain.py``.

    Example::

        from bell_bench import DomainSpec, hookimpl

        @hookimpl
        def bell_bench_domains():
            yield DomainSpec(
                name="bars",
                load="my_domain:load",
                summary="8 bars in noise, 28x28, drawn.",
                source="https://example.org/bars",
                licence="CC0",
            )
    """


@hookspec
def bell_bench_sources() -> Iterable[SourceSpec]:  # type: ignore[empty-body]
    """The sources of images a plugin provides, for ``evaluate --data NAME``: a suite's sequences
    then draw the source's domains. A whole one is in ``examples/hooks/my_source.py``.

    Example::

        from bell_bench import SourceSpec, hookimpl

        @hookimpl
        def bell_bench_sources():
            yield SourceSpec(
                "stripes",
                load="my_source:SOURCE",
                summary="nine kinds of stripes, drawn",
                shapes=((28, 28),),
            )
    """


@hookspec
def bell_bench_suites() -> Iterable[SuiteSpec]:  # type: ignore[empty-body]
    """The suites of sequences a plugin provides; ``load`` names a ``bell_bench.suites.base.Suite``,
    and a whole one is in ``examples/hooks/my_suite.py``.

    Example::

        from bell_bench import SuiteSpec, hookimpl

        @hookimpl
        def bell_bench_suites():
            yield SuiteSpec("blobs", load="my_suite:SUITE", summary="Points around two centres.")
    """


@hookspec
def bell_bench_executors() -> Iterable[ExecutorSpec]:  # type: ignore[empty-body]
    """The places to run jobs that a plugin provides, for ``evaluate --executor NAME``.

    Example::

        from bell_bench import ExecutorSpec, hookimpl

        @hookimpl
        def bell_bench_executors():
            yield ExecutorSpec(
                "one-by-one", load="my_executor:OneByOne", summary="one job after another"
            )
    """


@hookspec
def bell_bench_verbs() -> Iterable[VerbSpec]:  # type: ignore[empty-body]
    """The commands that a plugin adds to ``bell-bench``, each a click command, and the functions
    that do the same from Python, as ``bell_bench.NAME``.

    Example::

        from bell_bench import VerbSpec, hookimpl

        @hookimpl
        def bell_bench_verbs():
            yield VerbSpec(
                "count",
                load="my_verb:command",
                summary="Count the jobs of a folder.",
                functions={"count_jobs": "my_verb:count_jobs"},
            )
    """


@hookspec
def bell_bench_notes() -> Iterable[NoteSpec]:  # type: ignore[empty-body]
    """How a plugin's algorithms tell what they noted, for ``bell-bench show``. A note that nobody
    tells is shown as it is, with ``--full``.

    Example::

        from bell_bench import NoteSpec, hookimpl

        @hookimpl
        def bell_bench_notes():
            yield NoteSpec("votes", load="my_notes:tell_votes", summary="the votes for each class")
    """


@hookspec
def bell_bench_pictures() -> Iterable[PictureSpec]:  # type: ignore[empty-body]
    """The pictures of a job that a plugin draws, for ``bell-bench show JOB --picture FILE``.

    Example::

        from bell_bench import PictureSpec, hookimpl

        @hookimpl
        def bell_bench_pictures():
            yield PictureSpec(
                "curve",
                load="my_picture:draw_curve",
                summary="accuracy on each problem",
                algorithms=("constant:1",),
            )
    """


@hookspec
def bell_bench_results() -> Iterable[ResultsSpec]:  # type: ignore[empty-body]
    """What shows results: the class that ``bell_bench.evaluate``, ``leaderboard`` and ``show``
    return. A plugin's takes the place of ours.

    Example::

        from bell_bench import ResultsSpec, hookimpl

        @hookimpl
        def bell_bench_results():
            yield ResultsSpec("mine", load="my_results:MyResults", summary="with our logo")
    """


@hookspec
def bell_bench_run_started(run: Mapping[str, Any]) -> None:
    """Called in the parent process before a run's first job, with those that were done before, too.

    ``run["jobs"]`` is a list of ``bell_bench.records.Job``.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_run_started(run):
            print("started", len(run["jobs"]), "jobs")
    """


@hookspec
def bell_bench_problem_solved(job: Job, problem: Mapping[str, Any]) -> None:
    """Called in the parent process after a job solved one more problem of its sequence.

    ``problem`` has ``index`` (from 0), ``name``, ``accuracy`` (on its test set, in [0, 1]),
    ``event`` (always solved) and ``process`` (the job's process id). An implementation may leave
    out arguments it does not need.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_problem_solved(job, problem):
            print(job.algorithm, "solved", problem["name"], problem["accuracy"])
    """


@hookspec
def bell_bench_job_finished(job: Job, record: Record) -> None:
    """Called in the parent process when a job has ended, well or not; ``record`` is the
    ``bell_bench.records.Record`` that is stored.

    Example::

        from bell_bench import hookimpl

        @hookimpl
        def bell_bench_job_finished(job, record):
            print(job.algorithm, record.status)
    """
