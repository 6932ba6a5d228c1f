"""A plugin that declares a domain and a suite, and watches runs; every command imports it."""

import json

from bell_bench import DomainSpec, SuiteSpec, hookimpl


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
def bell_bench_suites():
    yield SuiteSpec("blobs", load="my_suite:SUITE", summary="Points around two centres.")


@hookimpl
def bell_bench_run_started(run):
    log(started=[job["algorithm"] for job in run["jobs"]])


@hookimpl
def bell_bench_problem_solved(job, problem):
    log(algorithm=job["algorithm"], problem=problem["name"], accuracy=problem["accuracy"])


@hookimpl
def bell_bench_job_finished(job, record):
    log(algorithm=job["algorithm"], status=record["status"], problems=len(record["problems"]))


def log(**facts):
    with open("watched.jsonl", "a") as file:
        file.write(json.dumps(facts) + "\n")
