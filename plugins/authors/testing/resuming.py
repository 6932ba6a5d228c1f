"""Resume from a checkpoint in a process that has seen nothing of the job before it.

What an algorithm keeps in a module or a class, and does not save, is missing there.
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from bell_bench import forkserver
from bell_bench.files import read_arrays, read_json, write_arrays, write_json
from bell_bench_authors.testing.isolation import teller
from bell_bench_authors.testing.tiny_job import NO_CALL, Broken, Fault, NotApplicable

if TYPE_CHECKING:
    from bell_bench_authors.testing.contracts import Session

Scores = list[list[Tensor]]


@dataclass(frozen=True)
class Cut:
    """A job that was stopped, and what its worker knew."""

    name: str
    folder: str
    """The folder that ``save`` wrote to."""
    learnt: int
    stored: Mapping[str, Sequence[int]]
    """The amounts that were reported to ``context.account``."""
    algorithm: str | None
    """How another process finds the algorithm."""
    threads: int = field(default_factory=torch.get_num_threads)
    path: list[str] = field(default_factory=lambda: list(sys.path))


def go_on(session: Session, cut: Cut) -> Scores:
    """Return the scores of all known problems after loading, and of all problems at the end."""
    tasks, trial = session.tasks("plain"), session.trial(name=cut.name)
    trial.load(pathlib.Path(cut.folder), tasks[: cut.learnt])
    trial.job_context.stored = {what: list(sizes) for what, sizes in cut.stored.items()}
    loaded = trial.predict_all()
    for task in tasks[cut.learnt :]:
        trial.learn(task)
    return [loaded, trial.predict_all()]


def go_on_elsewhere(session: Session, cut: Cut) -> Scores:
    """Resume in another process, or in this one if no other can import the class."""
    if cut.algorithm is None:
        return go_on(session, cut)
    session.tell(NO_CALL)  # until the other process makes one
    folder = session.runs / f"{cut.name}-elsewhere"
    write_json(folder / "cut.json", asdict(cut))
    with (folder / "log.txt").open("w+b") as log:
        process = forkserver.start(__name__, (str(folder),), dict(os.environ), log)
        try:
            code = process.wait()
        finally:
            forkserver.clear_away(process.pid)
    answer = folder / "answer.json"
    if code or not answer.is_file():
        last = (folder / "log.txt").read_text(errors="replace").split("\n")[-3:]
        raise Broken(f"load(folder) in another process ended it with {code}: {' '.join(last)}")
    return _read(folder, read_json(answer))


def start(place: str) -> int:
    """Resume in the other process, and write the scores or why there are none."""
    folder = pathlib.Path(place)
    cut = Cut(**read_json(folder / "cut.json"))
    sys.path[:] = cut.path
    torch.set_num_threads(cut.threads)
    write_json(folder / "answer.json", _answer(folder, cut))
    return 0


def _answer(folder: pathlib.Path, cut: Cut) -> dict[str, Any]:
    from bell_bench_authors.testing.conformance import session_of

    assert cut.algorithm is not None
    try:
        scores = go_on(session_of(cut.algorithm, folder.parent, teller(folder.parent)), cut)
    except Fault as fault:
        return {"fault": [str(fault), fault.contract]}
    except NotApplicable as refusal:
        return {"refusal": str(refusal)}
    named = {f"{row}-{at}": each for row, kept in enumerate(scores) for at, each in enumerate(kept)}
    write_arrays(folder / "scores.npz", {name: each.cpu().numpy() for name, each in named.items()})
    return {"known": [len(kept) for kept in scores]}


def _read(folder: pathlib.Path, answer: Mapping[str, Any]) -> Scores:
    if "fault" in answer:
        raise Fault(*answer["fault"])
    if "refusal" in answer:
        raise NotApplicable(answer["refusal"])
    found = read_arrays(folder / "scores.npz")
    return [
        [torch.from_numpy(found[f"{row}-{at}"]) for at in range(known)]
        for row, known in enumerate(answer["known"])
    ]
