"""Run one job in a process of its own (bell_bench.forkserver).

Make problem t, let the algorithm learn it, ask for predictions, score them, write a checkpoint, and
go on with problem t + 1.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import time
import traceback
import warnings
from typing import Any

import filelock
import numpy as np
import torch
from msgspec import structs
from numpy.typing import NDArray

from bell_bench.algorithm import Algorithm
from bell_bench.data.sources import IMAGES
from bell_bench.errors import BellBenchError, Unsupported
from bell_bench.files import sha256, write_arrays
from bell_bench.harness.context import JobContext
from bell_bench.harness.events import EventWriter
from bell_bench.harness.executor import POOL_VARIABLE
from bell_bench.harness.path_pool import LocalPool
from bell_bench.harness.plan import sequence_of, unlike_images
from bell_bench.harness.prefetch import Prefetch
from bell_bench.harness.scores import checked_scores
from bell_bench.harness.state import Checkpoints, JobState, make_record, narrow
from bell_bench.import_strings import load_object
from bell_bench.memory import PEAK
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.modular.evaluator import Charges
from bell_bench.plugins import PluginWarning, local_algorithm, registry
from bell_bench.problem import Problem, Split
from bell_bench.records import LONG, Job, JobFolder, Resources, ResultStore, SolvedProblem
from bell_bench.records.scores import JobAccuracies, recorded_scores
from bell_bench.source_hash import edited
from bell_bench.suites.base import Sequence, recorded_settings


class Run:
    """The life of one job."""

    def __init__(
        self, job: Job, folder: JobFolder, tell: EventWriter, ahead: Prefetch | None = None
    ) -> None:
        self.job, self.folder, self.tell, self.ahead = job, folder, tell, ahead
        suite = registry().suite(job.suite)
        self.sequence: Sequence = sequence_of(job)
        self.protocol = suite.protocols[job.protocol]
        self.settings = recorded_settings(
            suite, self.sequence, scale=job.scale, protocol=job.protocol
        )
        check_source(job)
        check_images(job)
        self.state = JobState()
        self.checkpoints = Checkpoints(folder.work / "checkpoints")
        self.context, self.algorithm = self.beginning()

    def beginning(self) -> tuple[JobContext, Algorithm]:
        """Return an algorithm that has learnt nothing yet, and its context."""
        context = JobContext(
            self.job,
            self.protocol,
            self.sequence.settings,
            work=self.folder.work,
            evaluations=self.folder.path.parent / "evaluations",
            tell=self.tell,
            ahead=self.ahead,
        )
        self.tell("importing", load=self.job.load)
        return context, load_object(self.job.load)(context, **self.job.options)

    def resume(self) -> None:
        """Go on from the newest checkpoint, or from the beginning if no checkpoint is sound."""
        newest, state = self.checkpoints.newest(), self.checkpoints.load()
        if newest and state and self.same_data(state):
            self.algorithm.load(newest / "algorithm")
            try:
                self.context.library.verify()
            except BellBenchError as error:
                warnings.warn(f"{error}: the job starts over", stacklevel=2)
                self.context, self.algorithm = self.beginning()
            else:
                self.state = state
                self.state.resumed.append(len(state.problems))
                self.context.evaluator.charges = Charges.from_json(self.state.charges)
                self.context.stored = self.state.stored
        self.tell("started", solved=len(self.state.problems), problems=len(self.sequence))

    def same_data(self, state: JobState) -> bool:
        """Return whether the images are those of the checkpoint; if not, the job starts over."""
        last = state.problems[-1]
        return self.sequence.problem(last.index).fingerprint == last.fingerprint

    def all(self) -> None:
        self.resume()
        for index in range(len(self.state.problems), len(self.sequence)):
            self.solve(index)
            self.checkpoint(index)
        self.final()

    def solve(self, index: int) -> None:
        """Learn one problem and record what it cost and how well it went."""
        problem = self.sequence.problem(index)
        self.tell("problem", index=index, name=problem.name)
        self.context.begin()
        before = self.context.charges
        PEAK.restart()
        wall, cpu = time.perf_counter(), time.process_time()
        self.algorithm.learn(problem)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        charged = self.context.charges - before
        resources = Resources(
            **charged.to_json(),
            wall_s=wall - charged.spent_seconds + charged.seconds,
            cpu_s=cpu - charged.spent_cpu_seconds + charged.cpu_seconds,
            peak_memory_bytes=PEAK.bytes,
            **self.context.resources(),
        )
        test = self.sequence.test(index)
        self.state.predictions[f"labels_{index}"] = narrow(test.labels)
        self.state.predictions[f"learnt_{index}"] = self.predict(index, test, problem.classes)
        accuracy = self.accuracy(f"learnt_{index}", index)
        self.state.problems.append(self.describe(problem, test, resources, accuracy))
        if len(self.sequence) <= LONG:
            self.test_all(index)
        self.tell("solved", index=index, name=problem.name, accuracy=accuracy)

    def describe(
        self, problem: Problem, test: Split, resources: Resources, accuracy: float
    ) -> SolvedProblem:
        path = self.algorithm.solution(problem.index)
        return SolvedProblem(
            index=problem.index,
            name=problem.name,
            classes=problem.classes,
            fingerprint=problem.fingerprint,
            test_fingerprint=test.fingerprint,
            path=None if path is None else list(path),
            resources=resources,
            notes=self.context.notes,
            accuracy_learnt=accuracy,
        )

    def test_all(self, index: int) -> None:
        """Add row ``index`` of the accuracy matrix, and keep its predictions."""
        for earlier in range(index):
            problem = self.state.problems[earlier]
            name = f"after_{index}_{earlier}"
            inputs = self.sequence.test(earlier)
            self.state.predictions[name] = self.predict(earlier, inputs, problem.classes)
        self.state.predictions[f"after_{index}_{index}"] = self.state.predictions[f"learnt_{index}"]
        self.state.matrix.append(
            [self.accuracy(f"after_{index}_{earlier}", earlier) for earlier in range(index + 1)]
        )

    def final(self) -> None:
        """Test the final model on every problem."""
        last = len(self.sequence) - 1
        for index, problem in enumerate(self.state.problems):
            known = self.state.predictions.get(f"after_{last}_{index}")
            if known is None:
                self.tell("testing", index=index)
                known = self.predict(index, self.sequence.test(index), problem.classes)
            self.state.predictions[f"final_{index}"] = known
            accuracy = self.accuracy(f"final_{index}", index)
            self.state.problems[index] = structs.replace(problem, accuracy_final=accuracy)

    def predict(self, index: int, test: Split, classes: int) -> NDArray[Any]:
        scores = self.algorithm.predict(index, test.inputs)
        return narrow(checked_scores(scores, index, (len(test), classes)).numpy().argmax(axis=1))

    def accuracy(self, predictions: str, index: int) -> float:
        found = self.state.predictions
        return float(np.mean(found[predictions] == found[f"labels_{index}"]))

    def checkpoint(self, index: int) -> None:
        """Write a checkpoint. An algorithm that cannot save starts over when it resumes."""
        folder = self.checkpoints.begin(index + 1)
        self.state.charges = self.context.charges.to_json()
        self.state.stored = self.context.stored
        try:
            (folder / "algorithm").mkdir()
            self.algorithm.save(folder / "algorithm")
        except NotImplementedError:
            shutil.rmtree(folder)
            return
        self.state.save(folder)
        self.checkpoints.complete(folder)


def check_source(job: Job) -> None:
    """Raise BellBenchError if the algorithm's source has changed since the run was planned. For a
    local file or an editable package, the job's provider names its hash."""
    source, _, name = job.load.rpartition(":")
    path = source.removeprefix("file:")
    if path == source:
        changed = edited(job.provider, job.load)
    else:
        changed = job.provider != local_algorithm(path, name).provider
    if changed:
        raise BellBenchError(f"{path} has changed since the run was planned: run it again")


def check_images(job: Job) -> None:
    """Raise BellBenchError if the images here are not those that the run was planned with."""
    if unlike := unlike_images(job):
        what, mend = "imported here", "import the same ones"
        if job.data != IMAGES:
            what, mend = f"of {job.data}", "install the same version of its plugin"
        raise BellBenchError(
            f"{', '.join(unlike)}: the images {what} are not those that the run was planned "
            f"with; {mend}, or run it again with these"
        )


def write_result(run: Run) -> None:
    """Write predictions first: a record exists only when all that it refers to exists."""
    write_arrays(run.folder.predictions_file, run.state.predictions)
    record = make_record(
        run.job,
        "done",
        "",
        run.state,
        predictions_sha256=sha256(run.folder.predictions_file.read_bytes()),
        settings=run.settings,
    )
    run.folder.write(structs.replace(record, metrics=recorded_scores(JobAccuracies.of(record))))


def take_turn(folder: JobFolder, tell: EventWriter) -> filelock.BaseFileLock:
    """Wait for the job's lock and return it. Only its holder works on the job."""
    lock = filelock.FileLock(folder.lock_file)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        tell("waiting")
        lock.acquire()
        tell("waited")
    return lock


def main(folder: JobFolder, tell: EventWriter, paths: int) -> int:
    """Run the job unless it is done by now; end in a record or an event; return the exit code."""
    job = folder.job()
    if job.name != folder.path.name:
        raise BellBenchError(f"{folder.job_file} is not the description of {folder.path.name}")
    torch.set_num_threads(job.threads)
    warnings.simplefilter("ignore", PluginWarning)  # the parent process has warned
    if ResultStore(folder.path.parent).finished(job):
        return 0  # another run on this store did it while this one waited
    folder.record_file.unlink(missing_ok=True)
    run: Run | None = None
    ahead = make_ahead(folder, paths) if paths > 1 else None
    try:
        run = Run(job, folder, tell, ahead)
        run.all()
        check_images(job)  # problems are made one by one, and hours may have passed
        write_result(run)
    except Unsupported as error:
        state = run.state if run else None
        folder.write(make_record(job, "unsupported", str(error), state))
    except Exception as error:
        traceback.print_exc()
        status = "out-of-memory" if out_of_memory(error) else "failed"
        tell("ended", status=status, reason=f"{type(error).__name__}: {error}"[:2000])
        return 1
    finally:
        if ahead:
            ahead.pool.close()
    return 0


def make_ahead(folder: JobFolder, paths: int) -> Prefetch:
    """Return what evaluates paths ahead of a search: where the executor says, or locally."""
    pool = os.environ.get(POOL_VARIABLE)
    if pool is None:
        return Prefetch(LocalPool(folder, paths - 1), paths)
    store = EvaluationStore(ResultStore(folder.path.parent).evaluations)
    return Prefetch(load_object(pool)(store), paths)


def out_of_memory(error: Exception) -> bool:
    """Return whether it is a memory error of Python, of torch's GPU or of its CPU allocator."""
    words = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or any(word in str(error) for word in words)


def start(folder: str, paths: str) -> int:
    """Wait for this process's turn and run the job in a folder."""
    own = JobFolder(pathlib.Path(folder))
    tell = EventWriter(own.events_file)
    with take_turn(own, tell):
        return main(own, tell, paths=int(paths))
