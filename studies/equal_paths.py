"""Measures what ties cost: of the paths that tie on validation, which was best on test?

python studies/equal_paths.py FOLDER …

Each FOLDER is a finished job of a modular algorithm in a folder of runs, with its library and the
evaluations beside it. If paths tie, the protocol takes the one evaluated first. For each problem,
this prints what the others would have reached. Paths in the evaluation store are not trained again.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import torch

from bell_bench import cpu_determinism
from bell_bench.harness.prefetch import Helper
from bell_bench.harness.state import Checkpoints
from bell_bench.modular.network import scores
from bell_bench.modular.path import ModulePath
from bell_bench.problem import Problem, Split
from bell_bench.records import JobFolder, ResultStore, SolvedProblem


def equals(problem: SolvedProblem) -> list[ModulePath]:
    """Return the paths with the highest validation accuracy, in the order of evaluation."""
    (rows,) = (note["evaluated"] for note in problem.notes if "evaluated" in note)
    best = max(row["accuracy"] for row in rows)
    return [ModulePath(tuple(row["path"])) for row in rows if row["accuracy"] == best]


def tested(folder: JobFolder) -> Iterator[tuple[str, list[tuple[ModulePath, float]]]]:
    """Yield, for each problem with a tie, its name, and every tied path with its test accuracy in
    percent."""
    record, newest = folder.record(), Checkpoints(folder.work / "checkpoints").newest()
    if record is None or not record.done or newest is None:
        raise SystemExit(f"{folder.path} is not a finished job with its library")
    evaluations = ResultStore(folder.path.parent).evaluations
    helper = Helper(folder.job(), evaluations, folder.work / "library")
    helper.library.load(newest / "algorithm" / "library.json")

    def accuracy(path: ModulePath, problem: Problem, test: Split) -> float:
        evaluation = helper.evaluator.evaluate(path, problem)
        weights = {layer: evaluation.weights(layer) for layer in range(len(path))}
        found = scores(problem.architecture, weights, test.inputs, device=torch.device("cpu"))
        return 100 * float((found.argmax(1).numpy() == test.labels).mean())

    for solved in record.problems:
        if len(paths := equals(solved)) > 1:
            problem = helper.sequence.problem(solved.index)
            test = helper.sequence.test(solved.index)
            yield solved.name, [(path, accuracy(path, problem, test)) for path in paths]


def main(folders: list[str]) -> None:
    cpu_determinism.hold()
    for name in folders:
        print(name)
        ties = list(tested(JobFolder(pathlib.Path(name))))
        if not ties:
            print("  no paths tie on validation")
        for problem, found in ties:
            print(f"  {problem}: equal on validation, on test (the first was chosen)")
            for path, accuracy in found:
                print(f"    {accuracy:6.2f}  {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
