"""Sequences so small that a strategy learns one in a second, and a job's context for them."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from bell_bench.data import DomainSizes
from bell_bench.harness.context import JobContext
from bell_bench.import_strings import load_object
from bell_bench.options import complete
from bell_bench.plugins import registry
from bell_bench.records import Job
from bell_bench.suites.bell.scales import BellScale
from bell_bench.suites.bell.suite import BELL, BellSequence

SCALE = BellScale(
    "quick", "tiny", 200, 200, 64, 64, DomainSizes(800, 80, 80), width=4, patience=40,
    max_updates=40, validate_every=20, learning_rate=0.002, weight_decay=0.1,
)  # fmt: skip


def tiny(name: str, protocol: str = "paper", **changes: Any) -> BellSequence:
    seed = BELL.realisation_seed(name, 0)
    found = BELL.sequence(name, seed=seed, scale="quick", protocol=protocol, data="glyphs")
    return dataclasses.replace(found, scale=dataclasses.replace(SCALE, **changes))


def make_job(
    algorithm: str, sequence: str = "S_pl", seed: int = 30, protocol: str = "paper"
) -> Job:
    load = registry().algorithm(algorithm).spec.load
    return Job(
        algorithm=algorithm, load=load, provider="test", suite="bell", suite_version="1",
        sequence=sequence, realisation=0, realisation_seed=seed, seed=0, scale="quick",
        data="glyphs", protocol=protocol,
    )  # fmt: skip


def make_algorithm(
    folder: pathlib.Path, sequence: BellSequence, algorithm: str, **options: Any
) -> tuple[Any, JobContext]:
    """An algorithm by name, as a job has it."""
    spec = registry().algorithm(algorithm).spec
    job = make_job(algorithm, sequence.name, sequence.seed, sequence.protocol.name)
    context = JobContext(
        job, sequence.protocol, sequence.settings,
        work=folder / "work", evaluations=folder / "evaluations", tell=lambda *a, **k: None,
    )  # fmt: skip
    return load_object(spec.load)(context, **complete(spec, options)), context


def learn_all(algorithm: Any, sequence: BellSequence, problems: range | None = None) -> None:
    for index in problems or range(len(sequence)):
        algorithm.learn(sequence.problem(index))


def predictions(algorithm: Any, sequence: BellSequence) -> list[Any]:
    """Class scores on every problem's test set."""
    return [algorithm.predict(index, sequence.test(index).inputs) for index in range(len(sequence))]


def check_scores(algorithm: Any, sequence: BellSequence) -> None:
    for index, scores in enumerate(predictions(algorithm, sequence)):
        problem = sequence.problem(index)
        assert tuple(scores.shape) == (len(sequence.test(index)), problem.classes)
        assert scores.isfinite().all()


def check_resume(
    folder: pathlib.Path, algorithm: str, sequence: BellSequence, stop: int, **options: Any
) -> None:
    """Stopped after ``stop`` problems and resumed, it ends with the same bits as in one go."""
    whole, _ = make_algorithm(folder, sequence, algorithm, **options)
    learn_all(whole, sequence)
    first, _ = make_algorithm(folder, sequence, algorithm, **options)
    learn_all(first, sequence, range(stop))
    (folder / "saved").mkdir()
    first.save(folder / "saved")
    assert {file.suffix for file in (folder / "saved").iterdir()} <= {".safetensors", ".json"}
    second, context = make_algorithm(folder, sequence, algorithm, **options)
    second.load(folder / "saved")
    learn_all(second, sequence, range(stop, len(sequence)))
    for ours, theirs in zip(
        predictions(whole, sequence), predictions(second, sequence), strict=True
    ):
        assert (ours == theirs).all()
    expected, found = whole.model.state_dict(), second.model.state_dict()
    assert list(expected) == list(found)
    assert all((expected[name] == found[name]).all() for name in expected)
    assert second.kept.keys() == whole.kept.keys()
    assert context.stored == whole.context.stored
