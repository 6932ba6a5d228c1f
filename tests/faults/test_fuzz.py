"""Bad input, made up: the command line's options, and result, cache, dataset and submission files.

Neither a traceback nor a fault of our own reaches a user, nothing is executed, nothing is written
outside the store. ``HYPOTHESIS_PROFILE=deep pytest tests/faults/test_fuzz.py`` looks for longer.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import pathlib
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bell_bench.cli.verbs import cli, run
from bell_bench.data.prepared import prepared
from bell_bench.errors import BellBenchError
from bell_bench.files import read_arrays, seal, sha256, write_arrays
from bell_bench.modular.evaluations import StoreWarning
from bell_bench.modular.evaluator import Evaluation
from bell_bench.modular.path import ModulePath
from bell_bench.records import Job
from tests.data.official_formats import made_images
from tests.leaderboard.making import record, write_run
from tests.modular.making import FakeTrain, make_evaluator, make_problem

pytestmark = pytest.mark.slow
FEW = settings(
    max_examples=settings.default.max_examples // 4,
    deadline=None,
    suppress_health_check=[*HealthCheck],
)
MANY = settings(FEW, max_examples=settings.default.max_examples)
HASH = "0" * 64


@dataclass(frozen=True)
class Told:
    """What the command line said."""

    code: int
    out: str
    err: str


def bell_bench(*arguments: str) -> Told:
    """The command line in this process, held to what every user may expect of it."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            code = run(arguments)
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    told = Told(code, *texts)
    assert code in (0, 1, 2), told
    assert "Traceback" not in told.err, told.err
    assert "This is a fault of" not in told.err, told.err
    assert code == 0 or told.err or told.out, "it failed and said nothing"
    return told


class Place:
    """A folder to play in, and a guard that nothing beside it changes."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.inside = folder / "inside"
        self.inside.mkdir()
        (folder / "sentinel").write_text("untouched")

    def check(self) -> None:
        assert sorted(path.name for path in self.folder.iterdir()) == ["inside", "sentinel"]
        assert (self.folder / "sentinel").read_text() == "untouched"


@contextlib.contextmanager
def place() -> Iterator[pathlib.Path]:
    """One for each example; the current folder is inside."""
    before = pathlib.Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        found = Place(pathlib.Path(name).resolve())
        os.chdir(found.inside)
        try:
            yield found.inside
            found.check()
        finally:
            os.chdir(before)


# --- the command line -------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_characters="\0"), max_size=12)
NUMBERS = st.one_of(st.integers(-(10**30), 10**30), st.floats()).map(str)
KNOWN = st.sampled_from(
    ["sa", "picle", "mntdp-d", "bell", "ctrl", "S_pl", "S_long60", "quick", "paper", "glyphs",
     "images", "authors-code", "mnist_1", "picle.k=4", "picle.k=x", "avalanche:LwF", "cpu", "90s",
     "4G", "runs", ".", "resources", "./absent.py:Class", "~nobody.py:Class", "modular", "bash",
     "--", "-"]
)  # fmt: skip
SAFE = TEXT.filter(lambda text: "/" not in text and ".." not in text)
VALUES = st.one_of(KNOWN, NUMBERS, SAFE)
IDLE = {"check", "ablate", "doctor"}
"""What takes long when it is asked for rightly: these are asked wrongly only."""


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that lead to it."""
    context = click.Context(cli)
    for verb in cli.list_commands(click.Context(cli)):
        command = cli.get_command(context, verb)
        assert command is not None
        if isinstance(command, click.Group):
            yield from (((verb, name), each) for name, each in command.commands.items())
        else:
            yield (verb,), command


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    words, command = draw(st.sampled_from(sorted(commands(), key=lambda found: found[0])))
    values = SAFE.map("~".__add__) if words[0] in IDLE else VALUES
    arguments = list(words)
    for parameter in draw(st.lists(st.sampled_from(command.params), max_size=5)):
        if isinstance(parameter, click.Option):
            arguments.append(draw(st.sampled_from(parameter.opts)))
            arguments += draw(st.lists(values, max_size=max(1, parameter.nargs)))
        else:
            arguments.append(draw(values))
    if draw(st.integers(0, 9)) == 0:
        arguments.append(draw(TEXT))
    if words[0] in IDLE:
        arguments += ["--", "~"]  # an option may take the first, nothing takes the other
    return arguments


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs and nothing is fetched; all that comes before does."""

    def stop(*anything: Any, **more: Any) -> None:
        raise BellBenchError("far enough")

    monkeypatch.setattr("bell_bench.harness.plan.check_plan", stop)
    monkeypatch.setattr("bell_bench_paper.reproduction.running.check_plan", stop)
    monkeypatch.setattr("bell_bench.harness.calibration._time_update", stop)
    monkeypatch.setattr("bell_bench.data.download._transfer", stop)
    monkeypatch.setattr("bell_bench.cli.verbs._show_warnings_briefly", lambda: None)


@FEW
@given(arguments=command_lines())
def test_no_command_line_ends_in_a_traceback(idle, arguments):
    with place():
        bell_bench(*arguments)


# --- result files -----------------------------------------------------------------------------

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
              st.sampled_from(["../../up", "\x1b[2J", "=1+1", "<script>", 10**400, -1, "done"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3),
    max_leaves=4,
)  # fmt: skip


@st.composite
def changed_json(draw: st.DrawFn, value: Any) -> Any:
    """The value with one part, anywhere, replaced, repeated or gone."""
    value = copy.deepcopy(value)
    part = value
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = draw(st.sampled_from(keys))
        inner = part[key]
        if isinstance(inner, dict | list) and inner and draw(st.booleans()):
            part = inner
            continue
        if draw(st.integers(0, 4)) == 0:
            del part[key]
        else:
            part[key] = draw(JSON)
        return value


@st.composite
def changed_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """The content cut, with some bytes changed, something inserted, or something else."""
    how = draw(st.sampled_from(["cut", "change", "insert", "else"]))
    at = draw(st.integers(0, len(content)))
    if how == "cut":
        return content[:at]
    if how == "insert":
        return content[:at] + draw(st.binary(max_size=20)) + content[at:]
    if how == "else":
        return draw(st.binary(max_size=60) | st.sampled_from([b"[" * 10**5, b'{"a":' * 10**5]))
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        changed[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(changed)


def whole_record(algorithm: str) -> dict[str, Any]:
    """A record with all that the harness writes, of problems that no suite has."""
    content = record(algorithm)
    learnt = [each["accuracy_learnt"] for each in content["problems"]]
    chosen = {"path": ["new"], "why": "the only one"}
    for problem in content["problems"]:
        row = {"path": ["new"], "accuracy": 0.5, "diverged": False}
        problem |= {"fingerprint": HASH, "test_fingerprint": HASH}
        problem["notes"] = [{"evaluated": [row], "chosen": chosen}, {"pt": {"layers": []}}]
        problem["resources"]["inference_flops"] = 1.0
    content["environment"] = {"packages": {}}
    content["matrix"] = [learnt[:1], learnt]
    return content


def write_job(runs: pathlib.Path, content: dict[str, Any]) -> pathlib.Path:
    """A job's folder as the harness leaves it."""
    job = Job(load="x:X", **content["job"])
    folder = write_run(runs / job.name, content)
    arrays = read_arrays(folder / "predictions.npz")
    for after, row in enumerate(content["matrix"]):
        for index in range(len(row)):
            arrays[f"after_{after}_{index}"] = arrays[f"learnt_{index}"]
    write_arrays(folder / "predictions.npz", arrays)
    hashed = {"predictions_sha256": sha256((folder / "predictions.npz").read_bytes())}
    (folder / "job.json").write_text(json.dumps(job.to_json()))
    sealed = seal({**content, **hashed, "job": job.to_json()})
    (folder / "record.json").write_text(json.dumps(sealed))
    return folder


READERS = (
    ("leaderboard", "runs", "--long"),
    ("leaderboard", "runs", "--costs", "--properties", "--html", "page.html"),
    ("leaderboard", "runs", "--wide", "--csv", "a.csv", "--latex", "a.tex", "--markdown", "a.md"),
    ("leaderboard", "runs", "--json"),
    ("show", "runs"),
    ("show", "picle"),
    ("show", "picle", "--full", "--json"),
    ("submit", "runs", "--out", "mine.zip"),
)


@FEW
@given(data=st.data())
def test_changed_results_are_told_or_left_out(data):
    reader = data.draw(st.sampled_from(READERS), "reader")
    with place() as inside:
        runs = inside / "runs"
        write_job(runs, whole_record("sa"))
        folder = write_job(runs, whole_record("picle"))
        file = folder / data.draw(st.sampled_from(["record.json", "job.json", "predictions.npz"]))
        if file.suffix == ".json" and data.draw(st.booleans(), "as JSON"):
            content = {k: v for k, v in json.loads(file.read_text()).items() if k != "sha256"}
            file.write_text(json.dumps(data.draw(changed_json(content))))
        else:
            file.write_bytes(data.draw(changed_bytes(file.read_bytes())))
        told = bell_bench(*reader)
        assert "\x1b" not in told.out + told.err


@FEW
@given(data=st.data())
def test_damage_never_changes_a_number(data):
    """Bytes that change by accident: a row is as it was, or it is no row of figures."""
    with place() as inside:
        write_job(inside / "runs", whole_record("sa"))
        folder = write_job(inside / "runs", whole_record("picle"))
        before = {row["algorithm"]: row for row in rows()}
        file = folder / data.draw(st.sampled_from(["record.json", "job.json", "predictions.npz"]))
        file.write_bytes(data.draw(changed_bytes(file.read_bytes())))
        for row in rows():
            if row["status"] == "done":
                assert row == before[row["algorithm"]]


def rows() -> list[dict[str, Any]]:
    return json.loads(bell_bench("leaderboard", "runs", "--json").out)


# --- the evaluation store ---------------------------------------------------------------------


@FEW
@given(data=st.data())
def test_anything_may_lie_in_the_evaluation_store(data):
    with place() as inside:
        shard = inside / "runs" / "evaluations" / "00"
        shard.mkdir(parents=True)
        names = st.sampled_from(
            [f"{HASH}-{HASH}.safetensors", f"{HASH}.lock", ".writing-1", "other", f"{HASH}-x"]
        )
        for name in data.draw(st.lists(names, unique=True)):
            if data.draw(st.booleans()):
                (shard / name).write_bytes(data.draw(st.binary(max_size=50)))
            else:
                (shard / name).symlink_to(inside.parent / "sentinel")
        for verb in ("info", "verify"):
            bell_bench("cache", verb)
        bell_bench("cache", "clear", "--yes")


PROBLEM = make_problem()
PATH = ModulePath.standalone(len(PROBLEM.architecture))


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evaluation, pathlib.Path]:
    """A sound one, and its file in the store."""
    folder = tmp_path_factory.mktemp("evaluation")
    made = make_evaluator(folder).evaluate(PATH, PROBLEM)
    (file,) = (folder / "evaluations").glob("*/*.safetensors")
    return made, file


@MANY
@given(data=st.data())
def test_a_changed_evaluation_is_computed_again(evaluation, data):
    """The same figures and weights, never others, whether or not it was verified before."""
    before, file = evaluation
    changed = data.draw(changed_bytes(file.read_bytes()))
    damaged = changed != file.read_bytes()
    with place() as inside:
        shard = inside / "runs" / "evaluations" / file.parent.name
        shard.mkdir(parents=True)
        (shard / file.name).write_bytes(changed)
        if data.draw(st.booleans(), "verified"):
            assert bell_bench("cache", "verify").code == damaged
        train = FakeTrain()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            after = make_evaluator(inside / "runs", train).evaluate(PATH, PROBLEM)
        assert len(train.calls) == damaged
        assert (after.accuracy, after.loss) == (before.accuracy, before.loss)
        for layer in PATH.new_layers:
            expected, found = before.weights(layer), after.weights(layer)
            assert all(torch.equal(found[name], expected[name]) for name in expected)


# --- images -----------------------------------------------------------------------------------

IMAGES = made_images(range(8))


def npz(arrays: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


ARRAYS = st.one_of(
    st.integers(-5, 300),
    st.floats(),
    st.lists(st.integers(0, 9), max_size=4),
    st.sampled_from([np.zeros((0, 28, 28), np.uint8), np.array("text"), np.array([{}], object),
                     np.ones(300), np.zeros((300, 28, 28), np.uint8), np.zeros(300, np.int8),
                     np.full(300, 2**63, np.uint64), np.zeros((300, 1), int)]),
)  # fmt: skip


@FEW
@given(data=st.data())
def test_changed_images_are_imported_whole_or_refused(data):
    with place() as inside:
        arrays: dict[str, Any] = dict(IMAGES)
        if data.draw(st.booleans(), "as arrays"):
            arrays[data.draw(st.sampled_from(sorted(arrays)))] = data.draw(ARRAYS)
            content = npz(arrays)
        else:
            content = data.draw(changed_bytes(npz(arrays)))
        (inside / "mine.npz").write_bytes(content)
        home = inside / "data"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BELL_BENCH_DATA", str(home))
            name = data.draw(st.sampled_from(["runes", "cifar10", "mnist_1", "../up"]))
            told = bell_bench("data", "import", name, "mine.npz")
            assert (told.code == 0) == (home / "imported" / f"{name}.npz").is_file()
            if told.code == 0:
                assert bell_bench("data", "verify", name).code == 0


@FEW
@given(data=st.data())
def test_a_changed_import_is_never_used(data):
    with place() as inside, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELL_BENCH_DATA", str(inside / "data"))
        (inside / "mine.npz").write_bytes(npz(dict(IMAGES)))
        bell_bench("data", "import", "runes", "mine.npz")
        kept = inside / "data" / "imported" / "runes.npz"
        content = kept.read_bytes()
        kept.write_bytes(data.draw(changed_bytes(content)))
        told = bell_bench("data", "verify", "runes")
        if told.code == 0:
            with np.load(io.BytesIO(content)) as before, np.load(kept) as after:
                assert all(np.array_equal(before[name], after[name]) for name in IMAGES)


@MANY
@given(data=st.data())
def test_a_changed_cache_of_images_is_made_again(data):
    made: dict[str, Any] = made_images(range(8), train=2, test=1)
    made |= {f"validation_{part}": made[f"test_{part}"] for part in ("images", "labels")}

    def load() -> dict[str, Any]:
        domain = prepared("runes", {"made": 1}, lambda: made)
        return {name: np.array(value) for name, value in vars(domain).items()}

    with place() as inside, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELL_BENCH_CACHE", str(inside / "cache"))
        before = load()
        (folder,) = (inside / "cache" / "domains").iterdir()
        file = data.draw(st.sampled_from(sorted(file.name for file in folder.iterdir())))
        content = data.draw(changed_bytes((folder / file).read_bytes()))
        (folder / file).write_bytes(content)
        for name, value in load().items():
            np.testing.assert_array_equal(value, before[name], strict=True)


# --- submissions ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a submission of the right form, though of no problems that could be made."""
    from bell_bench_submissions.pack import pack

    runs = tmp_path_factory.mktemp("submission") / "runs"
    for algorithm in ("sa", "picle"):
        write_job(runs, whole_record(algorithm))
    content = pack([runs]).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@FEW
@given(data=st.data())
def test_changed_submissions_are_refused_or_told(submission, data):
    from bell_bench.records.packed.archive import write_archive

    files = dict(submission)
    name = data.draw(st.sampled_from(sorted(files)))
    how = data.draw(st.sampled_from(["JSON", "bytes", "archive", "name"]))
    if how == "name":
        files[data.draw(st.sampled_from(["../up", "/etc/x", "a/../../b", "jobs/x/evil.py"]))] = b""
    elif how == "JSON" and name.endswith(".json"):
        files[name] = json.dumps(data.draw(changed_json(json.loads(files[name])))).encode()
    elif how == "bytes":
        files[name] = data.draw(changed_bytes(files[name]))
    content = write_archive(files)
    if how == "archive":
        content = data.draw(changed_bytes(content))
    with place() as inside:
        (inside / "mine.zip").write_bytes(content)
        assert bell_bench("validate", "mine.zip").code != 0, "its problems are none of any suite's"
        bell_bench("leaderboard", "mine.zip")
        assert [path.name for path in inside.iterdir()] == ["mine.zip"]
