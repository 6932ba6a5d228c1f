"""A plugin that uses every hook; every command imports it, so it holds names and import strings."""

import json

from bell_bench import (
    AlgorithmFamilySpec,
    DomainSpec,
    ExecutorSpec,
    NoteSpec,
    PictureSpec,
    ResultsSpec,
    SourceSpec,
    SuiteSpec,
    VerbSpec,
    hookimpl,
)


@hookimpl
def bell_bench_families():
    yield AlgorithmFamilySpec(
        name="constant",
        load="my_family:algorithm",
        summary="always says one class: constant:0, constant:1",
        members="my_family:members",
    )


@hookimpl
def bell_bench_domains():
    yield DomainSpec(
        name="bars",
        load="my_domain:load",
        summary="8 bars in noise, 28x28, drawn.",
        source="https://example.org/bars",
        licence="CC0",
    )


@hookimpl
def bell_bench_sources():
    yield SourceSpec(
        "stripes",
        load="my_source:SOURCE",
        summary="nine kinds of stripes, drawn",
        shapes=((28, 28),),
    )


@hookimpl
def bell_bench_suites():
    yield SuiteSpec("blobs", load="my_suite:SUITE", summary="Points around two centres.")


@hookimpl
def bell_bench_executors():
    yield ExecutorSpec("one-by-one", load="my_executor:OneByOne", summary="one job after another")


@hookimpl
def bell_bench_verbs():
    yield VerbSpec(
        "count",
        load="my_verb:command",
        summary="Count the jobs of a folder.",
        functions={"count_jobs": "my_verb:count_jobs"},
    )


@hookimpl
def bell_bench_notes():
    yield NoteSpec("votes", load="my_notes:tell_votes", summary="the votes for each class")


@hookimpl
def bell_bench_pictures():
    yield PictureSpec(
        "curve",
        load="my_picture:draw_curve",
        summary="accuracy on each problem",
        algorithms=("constant:1",),
    )


@hookimpl
def bell_bench_results():
    yield ResultsSpec("mine", load="my_results:MyResults", summary="with our logo")


@hookimpl
def bell_bench_run_started(run):
    log(started=[job.algorithm for job in run["jobs"]])


@hookimpl
def bell_bench_problem_solved(job, problem):
    log(algorithm=job.algorithm, problem=problem["name"], accuracy=problem["accuracy"])


@hookimpl
def bell_bench_job_finished(job, record):
    log(algorithm=job.algorithm, status=record.status, problems=len(record.problems))


def log(**facts):
    with open("watched.jsonl", "a") as file:
        file.write(json.dumps(facts) + "\n")
