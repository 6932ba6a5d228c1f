"""What a job has found so far, and its checkpoints. Imports no torch."""

from __future__ import annotations

import hashlib
import pathlib
import shutil
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bell_bench.files import read_arrays, read_json, write_arrays, write_json
from bell_bench.harness.environment import environment
from bell_bench.records import Job, Record, SolvedProblem

_MARKER = "complete"


@dataclass
class JobState:
    """What a job has found so far; all that a resume needs besides the algorithm's own files."""

    problems: list[SolvedProblem] = field(default_factory=list)
    matrix: list[list[float]] = field(default_factory=list)
    """Row t: accuracy on problems 0..t after learning t."""
    predictions: dict[str, NDArray[Any]] = field(default_factory=dict)
    charges: dict[str, Any] = field(default_factory=dict)
    stored: dict[str, list[int]] = field(default_factory=dict)
    """Bytes and parameters the algorithm keeps outside its library, as it accounted for them."""
    resumed: list[int] = field(default_factory=list)
    """How many problems were solved at each resume; what came after them was done again."""

    def save(self, folder: pathlib.Path) -> None:
        found = {name: value for name, value in vars(self).items() if name != "predictions"}
        found["problems"] = [problem.to_json() for problem in self.problems]
        write_arrays(folder / "predictions.npz", self.predictions)
        write_json(folder / "state.json", found)

    @staticmethod
    def load(folder: pathlib.Path) -> JobState:
        found = read_json(folder / "state.json")
        found["problems"] = [SolvedProblem.from_json(each) for each in found["problems"]]
        return JobState(**found, predictions=read_arrays(folder / "predictions.npz"))


class Checkpoints:
    """Numbered folders; the newest one whose ``complete`` marker was written is the one to use.

    The marker holds the hash of every file, so that damage costs time but no figure.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def newest(self) -> pathlib.Path | None:
        complete = self.folder.glob(f"*/{_MARKER}")
        return max((marker.parent for marker in complete), default=None)

    def files(self) -> list[pathlib.Path]:
        """The newest one's, as its marker names them, the marker last; none while one goes."""
        newest = self.newest()
        try:
            names = read_json(newest / _MARKER) if newest else {}
        except (OSError, ValueError):
            return []
        return [newest / name for name in (*names, _MARKER)] if newest else []

    def load(self) -> JobState | None:
        """The newest state; None if there is none, or some of it is not as it was written."""
        newest = self.newest()
        if newest is None:
            return None
        try:
            if read_json(newest / _MARKER) != _hashes(newest):
                raise ValueError("its files are not those that were written")
            return JobState.load(newest)
        except (OSError, ValueError, TypeError, KeyError) as error:
            warnings.warn(
                f"checkpoint {newest} is damaged ({error}): the job starts over", stacklevel=2
            )
            return None

    def begin(self, number: int) -> pathlib.Path:
        folder = self.folder / f"{number:04d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def complete(self, folder: pathlib.Path) -> None:
        write_json(folder / _MARKER, _hashes(folder))
        self.keep_only(folder)

    def keep_only(self, folder: pathlib.Path) -> None:
        for other in self.folder.iterdir():
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)


def _hashes(folder: pathlib.Path) -> dict[str, str]:
    """Of every file of a checkpoint but its marker."""
    return {
        file.relative_to(folder).as_posix(): _hash(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file != folder / _MARKER
    }


def _hash(file: pathlib.Path) -> str:
    """Piece by piece, as an algorithm may keep more than memory holds."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels and predictions as small as they fit."""
    return labels.astype(np.uint8 if labels.max(initial=0) < 256 else np.int64)


def make_record(job: Job, status: str, reason: str, state: JobState | None, **done: Any) -> Record:
    """Return the record of a job that has ended; ``done`` is what only a whole result has."""
    return Record(
        status=status,
        reason=reason,
        job=job,
        problems=state.problems if state else [],
        matrix=state.matrix if state else [],
        resumed=state.resumed if state else [],
        environment=environment(),
        **done,
    )
