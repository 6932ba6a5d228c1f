"""An algorithm that keeps every contract, and others that break one each."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pathlib
import pickle
import socket
import threading
import zipfile
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from bell_bench import Algorithm, Context, Inputs, Option, Problem
from bell_bench.errors import Unsupported
from bell_bench.plugins import registry


class Good(Algorithm):
    """The commonest class, a little disturbed by the job's seed."""

    stable = True

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.counts: dict[int, Tensor] = {}

    def learn(self, problem: Problem) -> None:
        counts = np.bincount(problem.train.labels, minlength=problem.classes)
        noise = torch.rand(problem.classes, generator=self.context.generator(problem.index))
        self.counts[problem.index] = torch.from_numpy(counts) + noise
        self.account()

    def account(self) -> None:
        self.context.account("counts", sum(kept.nbytes for kept in self.counts.values()))

    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return self.counts[index].expand(len(inputs), -1)

    def save(self, folder: pathlib.Path) -> None:
        arrays = {str(index): kept.numpy() for index, kept in self.counts.items()}
        np.savez(folder / "counts.npz", **arrays)

    def load(self, folder: pathlib.Path) -> None:
        with np.load(folder / "counts.npz") as arrays:
            self.counts = {int(name): torch.from_numpy(kept) for name, kept in arrays.items()}


class FailsToLearn(Good):
    def learn(self, problem: Problem) -> None:
        raise ValueError("no such luck")


class FailsInTorch(Good):
    def learn(self, problem: Problem) -> None:
        torch.nn.Linear(3, 3)(torch.zeros(2))  # which raises in a file of torch


class FailsToSave(Good):
    def save(self, folder: pathlib.Path) -> None:
        raise OSError("no room")


class RefusesAll(Good):
    def learn(self, problem: Problem) -> None:
        raise Unsupported("not for me")


class ForgetsProblems(Good):
    def learn(self, problem: Problem) -> None:
        self.counts.clear()
        super().learn(problem)


class WrongShape(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return super().predict(index, inputs)[:, :1]


class WrongType(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return super().predict(index, inputs).to(torch.complex64)


class NotATensor(Good):
    def predict(self, index: int, inputs: Inputs) -> Any:
        return super().predict(index, inputs).numpy()


class NotFinite(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return super().predict(index, inputs) / 0.0


class OnlyWholeTests(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return torch.stack([self.counts[index]] * 48)


class ProcessRandom(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        self.counts[problem.index] += torch.rand(problem.classes)


class FixedSeed(Good):
    def learn(self, problem: Problem) -> None:
        torch.manual_seed(0)
        self.counts[problem.index] = torch.rand(problem.classes)
        self.account()


class ConstantGenerator(Good):
    def learn(self, problem: Problem) -> None:
        own = torch.Generator().manual_seed(3)
        self.counts[problem.index] = torch.rand(problem.classes, generator=own)
        self.account()


class ConstantNumpy(Good):
    def learn(self, problem: Problem) -> None:
        drawn = np.random.default_rng(3).random(problem.classes)
        self.counts[problem.index] = torch.from_numpy(drawn)
        self.account()


class SeedsToNoEffect(Good):
    """Allowed: its generator follows the job's seed, though no score shows it."""

    def learn(self, problem: Problem) -> None:
        counts = np.bincount(problem.train.labels, minlength=problem.classes)
        np.random.RandomState(self.context.seed).shuffle(np.arange(3))
        self.counts[problem.index] = torch.from_numpy(counts) + 0.5
        self.account()


class NoSave(Good):
    def save(self, folder: pathlib.Path) -> None:
        Algorithm.save(self, folder)


class LosesOnLoad(Good):
    def load(self, folder: pathlib.Path) -> None:
        super().load(folder)
        self.counts[0] = self.counts[0] + 1000


class ForgetsToGoOn(Good):
    """Right after loading all is well; what comes later differs."""

    loaded = False

    def load(self, folder: pathlib.Path) -> None:
        super().load(folder)
        self.loaded = True

    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        if self.loaded:
            self.counts[problem.index] += 1


KEPT: dict[int, Tensor] = {}


class KeepsInModule(Good):
    """Nothing is lost as long as the process lives."""

    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.counts = KEPT

    def save(self, folder: pathlib.Path) -> None:
        pass

    def load(self, folder: pathlib.Path) -> None:
        pass


class EndsOnLoad(Good):
    def load(self, folder: pathlib.Path) -> None:
        os._exit(3)


class Pickles(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "more.bin").write_bytes(pickle.dumps({}))


class PicklesAsText(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "more.txt").write_bytes(pickle.dumps({"a": [1]}, protocol=0) + b"and more")


class PicklesAsJson(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "more.json").write_bytes(pickle.dumps(Good, protocol=1))


class PacksPickles(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "more.gz").write_bytes(gzip.compress(pickle.dumps({})))


class WritesNoJson(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "more.json").write_text("{'a': 1}")


class TorchSaves(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        torch.save(self.counts, folder / "more.pt")


class SavesObjects(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        np.savez(folder / "more.npz", things=np.array([{}], dtype=object))


class SavesAnObject(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        np.save(folder / "more.npy", np.array([{}], dtype=object))


class SavesOther(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        with zipfile.ZipFile(folder / "more.zip", "w") as archive:
            archive.writestr("code.py", "")


class SavesPlainly(Good):
    """All that is allowed."""

    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "notes.txt").write_text("0.5 of it, as plain text – with a dash.")
        (folder / "half.json").write_text("0.5")
        (folder / "empty.txt").write_text("")
        np.save(folder / "array.npy", np.zeros(3))
        np.savez_compressed(folder / "arrays.npz", **{"a.b": np.zeros(3)})
        for size in range(200):  # headers of many lengths, which are a file's first bytes
            tensors = {f"{name:060}": torch.zeros(1) for name in range(size)}
            safetensors.torch.save_file(tensors, folder / f"{size}.safetensors")


class Unstable(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return super().predict(index, inputs) + len(self.counts)


class ChoosesDevice(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.counts[problem.index] = self.counts[problem.index].to(device)


class IllOptioned(Good):
    options = {"mode": Option(str, "a", "How.", choices=("a", "b"))}  # type: ignore[assignment]  # noqa: RUF012

    def learn(self, problem: Problem) -> None:
        assert self.options["mode"] == "a", "b was never written"
        super().learn(problem)


class OnlyHalf(Good):
    options = {"rate": Option(float, 0.5, "How fast.", above=0)}  # type: ignore[assignment]  # noqa: RUF012

    def learn(self, problem: Problem) -> None:
        assert self.options["rate"] == 0.5, "no other rate"
        super().learn(problem)


class OnlyThree(Good):
    options = {"steps": Option(int, 3, "How many.")}  # type: ignore[assignment]  # noqa: RUF012

    def learn(self, problem: Problem) -> None:
        assert self.options["steps"] == 3, "no other number"
        super().learn(problem)


class Labelled(Good):
    """Allowed: text may be anything, so that nobody knows what else to try."""

    options = {"label": Option(str, "mine", "A word.")}  # type: ignore[assignment]  # noqa: RUF012


class LabelledOrNot(Good):
    options = {  # type: ignore[assignment]  # noqa: RUF012
        "label": Option(str, "mine", "A word."),
        "shown": Option(bool, True, "Whether."),
    }


class Hangs(Good):
    def learn(self, problem: Problem) -> None:
        if len(problem.train) < 16:
            threading.Event().wait()
        super().learn(problem)


class Talks(Good):
    def learn(self, problem: Problem) -> None:
        print("hear, hear")
        super().learn(problem)


class HangsOnLoad(Good):
    def load(self, folder: pathlib.Path) -> None:
        threading.Event().wait()


class EndsTheProcess(Good):
    def learn(self, problem: Problem) -> None:
        os._exit(3)


class NeedsPoints(Good):
    def learn(self, problem: Problem) -> None:
        assert len(problem.train) > 16, "too few to split"
        super().learn(problem)


class OnlyImages(Good):
    def learn(self, problem: Problem) -> None:
        assert problem.train.images.ndim == 3, "images have two sides"
        super().learn(problem)


class OnlyBinary(Good):
    def learn(self, problem: Problem) -> None:
        assert problem.classes == 2
        super().learn(problem)


class RefusesClasses(Good):
    def learn(self, problem: Problem) -> None:
        if problem.classes > 2:
            raise Unsupported("binary problems only")
        super().learn(problem)


class ReadsLabels(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        return torch.eye(2)[torch.from_numpy(inputs.labels)]  # type: ignore[attr-defined]


class LooksAround(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        runs = self.context.library.folder.parents[2]
        assert [path.name for path in runs.iterdir()]


class ReadsOthers(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        runs = self.context.library.folder.parents[2]
        assert (runs / "another-job" / "record.json").read_text()


class ReadsRuns(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        with contextlib.suppress(OSError):
            pathlib.Path("runs/picle-S_few-0/record.json").read_text()


class MakesProblems(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        assert registry().suite(self.context.suite)


class UsesInternals(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        assert self.context.evaluator  # type: ignore[attr-defined]


class AsksQuietly(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        assert getattr(self.context, "job", None) is None


class CallsHome(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            with socket.create_connection(listening.getsockname()):
                pass


class ChangesProblem(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        problem.train.labels[:] = 0


class ChangesInputs(Good):
    def predict(self, index: int, inputs: Inputs) -> Tensor:
        inputs.images[:] = 0
        return super().predict(index, inputs)


class HoardsData(Good):
    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.problems: list[Problem] = []

    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        self.problems.append(problem)


class HoardsNumbers(Good):
    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(context, **options)
        self.examples: list[Any] = []

    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        self.examples += problem.train.images.reshape(len(problem.train.images), -1).tolist()


class HoardsJson(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        (folder / "hoard.json").write_text(json.dumps([0.5] * 10_000))


class HoardsFiles(Good):
    def save(self, folder: pathlib.Path) -> None:
        super().save(folder)
        np.save(folder / "hoard.npy", np.zeros(10_000))


class TrainsForFree(Good):
    def learn(self, problem: Problem) -> None:
        super().learn(problem)
        weight = torch.zeros(3, requires_grad=True)
        optimiser = torch.optim.SGD([weight], lr=0.1)
        weight.sum().backward()
        optimiser.step()


BREAKERS: list[tuple[str, type[Good], str]] = [
    ("learns", FailsToLearn, "raised ValueError: no such luck"),
    ("learns", FailsInTorch, "misbehaving.py:"),
    ("learns", RefusesAll, "AlgorithmSpec(suites=…)"),
    ("learns", EndsTheProcess, "pairs, 48 points) ended the process with exit code 3"),
    ("learns", ForgetsProblems, "predict(0, inputs) raised KeyError"),
    ("scores", WrongShape, "scores of shape (48, 2), not (48, 1)"),
    ("scores", WrongType, "real numbers, not torch.complex64"),
    ("scores", NotATensor, "a tensor, not ndarray"),
    ("scores", NotFinite, "not finite"),
    ("scores", OnlyWholeTests, "scores of shape (7, 2), not (48, 2)"),
    ("deterministic", ProcessRandom, "context.generator"),
    ("seed", FixedSeed, "seeds 0 and 1 give the same scores"),
    ("seed", ConstantGenerator, "with 3 whether the job's seed is 0 or 1"),
    ("seed", ConstantNumpy, "with 3 whether the job's seed is 0 or 1"),
    ("resumes", NoSave, "must implement save(folder)"),
    ("resumes", FailsToSave, "save(folder) raised OSError: no room"),
    ("resumes", LosesOnLoad, "right after load(folder)"),
    ("resumes", ForgetsToGoOn, "after going on from load(folder)"),
    ("resumes", KeepsInModule, "predict(0, inputs) raised KeyError"),
    ("resumes", EndsOnLoad, "in another process ended it with 3"),
    ("plain-files", Pickles, "more.bin, which is a pickle"),
    ("plain-files", PicklesAsText, "more.txt, which is a pickle"),
    ("plain-files", PicklesAsJson, "more.json, which is a pickle"),
    ("plain-files", PacksPickles, "more.gz, which is neither text, JSON"),
    ("plain-files", WritesNoJson, "more.json, which is not JSON"),
    ("plain-files", SavesAnObject, "numpy reads only with pickle"),
    ("plain-files", SavesOther, "an archive that holds code.py"),
    ("plain-files", TorchSaves, "torch.save writes these"),
    ("plain-files", SavesObjects, "numpy reads only with pickle"),
    ("stable", Unstable, "learning problem 2 changed the scores of problem 1"),
    ("device", ChoosesDevice, "it asked torch.cuda.is_available() instead of using context.device"),
    ("options", IllOptioned, "with mode='b'"),
    ("options", OnlyHalf, "with rate=0.25"),
    ("options", OnlyThree, "with steps=4"),
    ("few-points", NeedsPoints, "too few to split"),
    ("mixed-inputs", OnlyImages, "images have two sides"),
    ("multi-class", OnlyBinary, "raised AssertionError"),
    ("nothing-else", ReadsLabels, "no attribute 'labels'"),
    ("nothing-else", LooksAround, "it asked for what is not its own: os."),
    ("nothing-else", ReadsOthers, "open runs/another-job/record.json"),
    ("nothing-else", ReadsRuns, "runs/picle-S_few-0/record.json"),
    ("nothing-else", MakesProblems, "it looked up the suite bell"),
    ("nothing-else", UsesInternals, "context.evaluator is not promised"),
    ("nothing-else", AsksQuietly, "context.job is not promised"),
    ("nothing-else", CallsHome, "a network connection to"),
    ("leaves-inputs", ChangesProblem, "learn changed"),
    ("leaves-inputs", ChangesInputs, "predict(0, inputs) changed its inputs"),
    ("accounts-storage", HoardsData, "context.account"),
    ("accounts-storage", HoardsNumbers, "context.account"),
    ("accounts-storage", HoardsJson, "save(folder) wrote"),
    ("accounts-storage", HoardsFiles, "save(folder) wrote"),
    ("charges-work", TrainsForFree, "made 1 steps of an optimiser and charged nothing"),
]
ALSO_BROKEN: dict[type[Good], tuple[str, ...]] = {OnlyBinary: ("mixed-inputs",)}
"""Where one habit breaks two: single images come with many classes."""
