"""The state of a running job, and its checkpoints. Imports no torch."""

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
    """The results of a job so far: all that resuming needs besides the algorithm's own files."""

    problems: list[SolvedProblem] = field(default_factory=list)
    matrix: list[list[float]] = field(default_factory=list)
    """Row t: accuracy on problems 0..t after learning t."""
    predictions: dict[str, NDArray[Any]] = field(default_factory=dict)
    charges: dict[str, Any] = field(default_factory=dict)
    stored: dict[str, list[int]] = field(default_factory=dict)
    """Bytes and parameters that the algorithm keeps outside its library, as it reported them."""
    resumed: list[int] = field(default_factory=list)
    """How many problems were solved at each resume; the work after them was done again."""

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
    """Numbered folders; the newest one that has a ``complete`` marker is used.

    The marker holds the hash of every file, so damage costs time but changes no result.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def newest(self) -> pathlib.Path | None:
        complete = self.folder.glob(f"*/{_MARKER}")
        return max((marker.parent for marker in complete), default=None)

    def files(self) -> list[pathlib.Path]:
        """Return the files of the newest checkpoint, as its marker lists them, the marker last; an
        empty list if the checkpoint vanishes meanwhile."""
        newest = self.newest()
        try:
            names = read_json(newest / _MARKER) if newest else {}
        except (OSError, ValueError):
            return []
        return [newest / name for name in (*names, _MARKER)] if newest else []

    def load(self) -> JobState | None:
        """Return the newest state; None if there is none or a file of it has changed."""
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
    """Return the hash of every file of a checkpoint except its marker."""
    return {
        file.relative_to(folder).as_posix(): _hash(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file != folder / _MARKER
    }


def _hash(file: pathlib.Path) -> str:
    """Return a file's hash, read in pieces: an algorithm may keep more than fits in memory."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels or predictions as the smallest type that holds them."""
    return labels.astype(np.uint8 if labels.max(initial=0) < 256 else np.int64)


def make_record(job: Job, status: str, reason: str, state: JobState | None, **done: Any) -> Record:
    """Return the record of a job that has ended; ``done`` has the fields of a whole result."""
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
