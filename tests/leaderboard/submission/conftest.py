"""One run on the tiny suite, packed once; and archives changed as an attacker would."""

from __future__ import annotations

import copy
import io
import json
import pathlib
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from bell_bench.files import sha256
from bell_bench.plugins import registry
from bell_bench.records import Job
from bell_bench_submissions.pack import pack
from tests.harness.conftest import House, build

ALGORITHMS = ("constant", "fail", "sa")
LOCAL = """
import torch
from bell_bench import Algorithm

class Mine(Algorithm):
    "Says the second class."
    def learn(self, problem): self.classes = problem.classes
    def predict(self, index, inputs):
        return torch.eye(self.classes)[[1] * len(inputs)]
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the run below is slow."""
    for item in items:
        own = pathlib.Path(__file__).parent in item.path.parents
        if own and "made" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Runs of well-behaved algorithms, one that fails, and one from a local file."""
    house = build(tmp_path_factory.mktemp("submitted"))
    (house.folder / "mine.py").write_text(LOCAL)
    asked = [part for name in (*ALGORITHMS, "./mine.py:Mine") for part in ("--algo", name)]
    done = house.evaluate(*asked)
    assert done.returncode == 1, done.stderr
    assert house.record("sa")["status"] == "done"
    return house


@pytest.fixture(scope="module")
def tiny(made: House) -> Iterator[None]:
    """The tiny suite as a plugin of this process too, as long as a file's tests run."""
    sys.path.insert(0, str(made.folder / "plugins"))
    registry.cache_clear()
    yield
    sys.path.remove(str(made.folder / "plugins"))
    sys.modules.pop("tiny", None)
    registry.cache_clear()


@pytest.fixture(scope="session")
def content(made: House) -> bytes:
    """A sound submission."""
    return pack([made.folder / "runs"], name="somebody", contact="some@where").content


@dataclass
class Editable:
    """A submission taken apart, changed and put together again, with hashes that fit."""

    files: dict[str, bytes]
    manifest: dict[str, Any]
    records: dict[str, dict[str, Any]]
    """By algorithm."""
    arrays: dict[str, dict[str, np.ndarray]]
    names: dict[str, str] = field(default_factory=dict)
    """Job names by algorithm."""

    @staticmethod
    def of(content: bytes) -> Editable:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(files.pop("manifest.json"))
        found = Editable(files, manifest, {}, {})
        for name in manifest["jobs"]:
            record = json.loads(files[f"jobs/{name}/record.json"])
            algorithm = record["job"]["algorithm"]
            found.records[algorithm], found.names[algorithm] = record, name
            if predictions := files.get(f"jobs/{name}/predictions.npz"):
                with np.load(io.BytesIO(predictions)) as arrays:
                    found.arrays[algorithm] = dict(arrays)
        return found

    def build(self, *, bind: bool = True, rename: bool = True) -> bytes:
        """The archive with all changes; a job whose description changed moves to its new name.
        Without ``bind``, records keep the hashes of the predictions that they were made with;
        without ``rename``, jobs their names."""
        files, jobs = {}, {}
        for algorithm, record in self.records.items():
            name = Job.from_json(record["job"]).name if rename else self.names[algorithm]
            if algorithm in self.arrays:
                buffer = io.BytesIO()
                np.savez_compressed(buffer, **self.arrays[algorithm])
                files[f"jobs/{name}/predictions.npz"] = buffer.getvalue()
                if bind:
                    record["predictions_sha256"] = sha256(buffer.getvalue())
            files[f"jobs/{name}/record.json"] = json.dumps(record).encode()
            jobs[name] = self.manifest["jobs"][self.names[algorithm]]
        hashes = {name: sha256(content) for name, content in files.items()}
        manifest = {**self.manifest, "files": hashes, "jobs": jobs}
        return zipped({**files, "manifest.json": json.dumps(manifest).encode()})

    def claim(self, algorithm: str) -> dict[str, Any]:
        return self.manifest["jobs"][self.names[algorithm]]

    def invent_standalone(self) -> None:
        """Predictions of sa made from the labels, and all that follows from them."""
        arrays, record = self.arrays["sa"], self.records["sa"]
        for name in arrays:
            if not name.startswith("labels"):
                arrays[name] = arrays[f"labels_{name.rpartition('_')[2]}"]
        for problem in record["problems"]:
            problem |= {"accuracy_learnt": 1.0, "accuracy_final": 1.0}
        record["matrix"] = [[1.0] * len(row) for row in record["matrix"]]
        record["metrics"] = {"A": 100.0, "F": 0.0, "backward_transfer": 0.0}
        self.claim("sa").update(A=100.0, F=0.0)
        for algorithm in self.arrays:
            last = self.records[algorithm]["problems"][-1]["accuracy_final"]
            self.claim(algorithm).update(Tr_last=100 * (last - 1))

    def forget(self, algorithm: str) -> None:
        del self.records[algorithm]
        self.arrays.pop(algorithm, None)


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def edit(content: bytes) -> Editable:
    return copy.deepcopy(Editable.of(content))


@pytest.fixture
def runs(made: House, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the runs that a test may spoil."""
    folder = tmp_path / "runs"
    shutil.copytree(made.folder / "runs", folder, ignore=shutil.ignore_patterns("evaluations"))
    return folder


Validate = Callable[..., tuple[int, str]]


@pytest.fixture
def validate(tiny: None, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> Validate:
    """Runs ``bell-bench validate`` on bytes, in this process: exit code and all that was told."""
    from bell_bench.cli.verbs import run

    def validate(content: bytes, *options: str) -> tuple[int, str]:
        file = tmp_path / "submitted.zip"
        file.write_bytes(content)
        code = run(["validate", str(file), *options])
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        assert "unexpected" not in told.err
        return code, told.out + told.err

    return validate
