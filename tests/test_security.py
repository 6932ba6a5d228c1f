"""What SECURITY.md promises: nothing that is loaded can run code, and nothing that is read can fill
memory or disk."""

from __future__ import annotations

import ast
import io
import json
import os
import pathlib
import pickle
import struct
import tarfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import safetensors
import torch

import bell_bench
import bell_bench_algorithms
import bell_bench_leaderboard
from bell_bench import files
from bell_bench.data import imported, official, prepared
from bell_bench.data import official_colour as colour
from bell_bench.data.catalogue import K49
from bell_bench.data.declared import official_domains
from bell_bench.data.download import check_url
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.harness.state import Checkpoints
from bell_bench.modular import evaluations
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.modular.library import Library
from bell_bench.records import Job, JobFolder, ResultStore, read_records
from bell_bench.records.predictions import read_predictions
from bell_bench_leaderboard.properties import read_rules
from bell_bench_submissions import Submission
from tests.leaderboard.making import read, record

# --- a test that greps ------------------------------------------------------------------------

MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal",
           "yaml", "torch.package"}  # fmt: skip
CALLS = {"eval", "exec", "compile", "__import__", "torch.load", "torch.jit.load", "os.system",
         "os.popen", "np.fromfile", "yaml.load", "pickle.loads", "pd.read_pickle",
         "shutil.unpack_archive"}  # fmt: skip
METHODS = {"extractall", "extract", "unpack_archive", "read_pickle"}


def sources() -> Iterator[tuple[pathlib.Path, ast.AST]]:
    for package in (bell_bench, bell_bench_algorithms, bell_bench_leaderboard):
        for file in sorted(pathlib.Path(str(package.__file__)).parent.rglob("*.py")):
            yield file, ast.parse(file.read_text())


def offences(tree: ast.AST) -> Iterator[str]:
    """Whatever could run what a file says, or write where an archive says."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield str(node.module)
        elif isinstance(node, ast.Call):
            yield from _call_offences(node)


def _call_offences(call: ast.Call) -> Iterator[str]:
    name = ast.unparse(call.func)
    keywords = {word.arg: ast.unparse(word.value) for word in call.keywords}
    if name in CALLS or (isinstance(call.func, ast.Attribute) and call.func.attr in METHODS):
        yield name
    if name in ("np.load", "numpy.load") and keywords.get("allow_pickle") != "False":
        yield f"{name} without allow_pickle=False"
    if keywords.get("shell") == "True":
        yield f"{name} with a shell"


def test_no_source_of_ours_loads_what_could_run_code():
    found = {str(file): list(offences(tree)) for file, tree in sources()}
    assert len(found) > 100
    assert {file: told for file, told in found.items() if told} == {}


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from pickle import loads", "torch.load(f)", "np.load(f)", "eval(x)",
     "np.load(f, allow_pickle=True)", "run(x, shell=True)", "archive.extractall(p)"],
)  # fmt: skip
def test_the_grep_finds_what_it_looks_for(source):
    assert list(offences(ast.parse(source)))


# --- a test that tries ------------------------------------------------------------------------


class Payload:
    """Unpickled, it leaves a mark."""

    def __init__(self, mark: pathlib.Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.mark),)


def hostile(mark: pathlib.Path) -> dict[str, bytes]:
    """Files that run code in a reader that lets them."""
    payload = np.array([Payload(mark)], dtype=object)
    names = (*imported.PARTS, "fingerprint", "arr_0", "labels_0", "final_0")
    npz, npy, saved = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(npz, **dict.fromkeys(names, payload))
    np.save(npy, payload, allow_pickle=True)
    torch.save({"weights": Payload(mark)}, saved)
    raw = pickle.dumps(Payload(mark))
    return {
        "pickle": raw,
        "text pickle": pickle.dumps(Payload(mark), protocol=0),
        "npz": npz.getvalue(),
        "npy": npy.getvalue(),
        "torch": saved.getvalue(),
        "header": struct.pack("<Q", len(raw)) + raw,
    }


def load_checkpoint(file: pathlib.Path) -> object:
    folder = file.parent / "checkpoints" / "0001"
    (folder / "algorithm").mkdir(parents=True)
    (folder / "state.json").write_text("{}")
    (folder / "predictions.npz").write_bytes(file.read_bytes())
    checkpoints = Checkpoints(folder.parent)
    checkpoints.complete(folder)
    return checkpoints.load()


def load_evaluation(file: pathlib.Path) -> object:
    content = file.read_bytes()
    key = "0" * 64
    entry = file.parent / "store" / "00" / f"{key}-{files.sha256(content)}.safetensors"
    entry.parent.mkdir(parents=True)
    entry.write_bytes(content)
    return EvaluationStore(file.parent / "store").get(key)


def load_module(file: pathlib.Path) -> object:
    (file.parent / f"{'0' * 64}.safetensors").write_bytes(file.read_bytes())
    return Library(file.parent)._read("0" * 64)


def load_results(file: pathlib.Path) -> object:
    for name in ("record.json", "job.json", "predictions.npz"):
        (file.parent / "runs" / name).mkdir(parents=True)
        (file.parent / "runs" / name / name).write_bytes(file.read_bytes())
    return read_records([file.parent / "runs"])


def load_record(file: pathlib.Path) -> object:
    (file.parent / "record.json").write_bytes(file.read_bytes())
    return JobFolder(file.parent).record()


def load_prepared(file: pathlib.Path) -> object:
    folder = file.parent / "prepared"
    folder.mkdir()
    about = {"fingerprint": "0", "mean": 0.0, "std": 1.0}
    files.write_json(folder / "about.json", files.seal(about))
    for part in prepared.ARRAYS:
        (folder / f"{part}.npy").write_bytes(file.read_bytes())
    return prepared._read(folder, "any")


def load_import(file: pathlib.Path) -> object:
    target = imported.imported_path("runes")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.read_bytes())
    return imported.read_imported("runes")


def load_official(file: pathlib.Path) -> object:
    for each in K49.files:
        path = pathlib.Path(os.environ["BELL_BENCH_DATA"]) / each.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.read_bytes())
    return official.read(K49)


LOADERS: dict[str, Callable[[pathlib.Path], object]] = {
    "json": files.read_json,
    "arrays": files.read_arrays,
    "import": lambda file: imported.import_file("runes", file),
    "imported": load_import,
    "official": load_official,
    "prepared": load_prepared,
    "cifar": lambda file: colour.read_cifar10([[file]]),
    "svhn": lambda file: colour.read_svhn([[file], [file]]),
    "dtd": lambda file: colour.read_dtd([[file]]),
    "checkpoint": load_checkpoint,
    "record": load_record,
    "evaluation": load_evaluation,
    "module": load_module,
    "library": lambda file: Library(file.parent).load(file),
    "results": load_results,
    "submission": Submission.read,
    "rules": lambda file: read_rules(file, ()),
}


@pytest.mark.parametrize("kind", ["pickle", "text pickle", "npz", "npy", "torch", "header"])
@pytest.mark.parametrize("loader", LOADERS)
def test_no_loader_runs_what_is_in_a_file(tmp_path, loader, kind):
    mark = tmp_path / "executed"
    file = tmp_path / "hostile"
    file.write_bytes(hostile(mark)[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = LOADERS[loader](file)
        except Exception:  # which one is for other tests
            found = None
    assert not mark.exists()
    assert not found or found == {}


def test_the_payload_works_where_it_is_let(tmp_path):
    pickle.loads(hostile(tmp_path / "executed")["pickle"])
    assert (tmp_path / "executed").exists()


# --- archives and downloads -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../outside.bin", "/tmp/bell-bench-outside.bin", "inside.bin"])
def test_an_archive_is_read_and_never_unpacked(tmp_path, name):
    folder = tmp_path / "data"
    folder.mkdir()
    with tarfile.open(folder / "images.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 4
        archive.addfile(member, io.BytesIO(b"data"))
        link = tarfile.TarInfo("link.bin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    found = dict(colour._contents([folder / "images.tar.gz"], {".bin": 4}))
    assert list(found.values()) == [b"data"]
    assert [path.name for path in tmp_path.rglob("*")] == ["data", "images.tar.gz"]
    assert not pathlib.Path("/tmp/bell-bench-outside.bin").exists()
    with pytest.raises(ValueError, match=r"side\.bin has more than 3 bytes"):
        list(colour._contents([folder / "images.tar.gz"], {".bin": 3}))


def test_every_download_is_https_and_has_a_checksum():
    for collection in (domain.collection for domain in official_domains().values()):
        for base in collection.mirrors:
            assert base.startswith("https://")
        for file in collection.files:
            assert len(file.md5) == 32


def test_what_is_no_address_is_not_fetched_either():
    with pytest.raises(UsageError, match="no address"):
        check_url("https://[nowhere/")


@pytest.mark.parametrize("url", ["http://example.org/a", "ftp://example.org/a", "file:///etc/passwd",
                                 "http://localhost.example.org/a", "//example.org/a"])  # fmt: skip
def test_nothing_else_is_fetched(url):
    with pytest.raises(UsageError, match="https only"):
        check_url(url)


# --- sizes ------------------------------------------------------------------------------------


def announce(content: bytes, size: int) -> bytes:
    """The zip with another unpacked size in its directory and before each member."""
    changed = bytearray(content)
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = content.find(signature)
        while at >= 0:
            changed[at + offset : at + offset + 4] = struct.pack("<L", size)
            at = content.find(signature, at + 4)
    return bytes(changed)


def packed(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, train_images=array)
    return buffer.getvalue()


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    file = tmp_path / "bomb.npz"
    file.write_bytes(announce(packed(np.zeros(1000, np.uint8)), 2**31 + 1))
    with pytest.raises(UsageError, match=r"unpacks to 2,147,483,649 bytes"):
        imported.import_file("runes", file)


def test_a_bomb_that_lies_about_its_size_is_not_unpacked_either(tmp_path):
    file = tmp_path / "bomb.npz"
    file.write_bytes(announce(packed(np.zeros(2**27, np.uint8)), 1000))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r".+"):
        files.read_arrays(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**28, "the array that its header speaks of, and no more"


def test_predictions_of_which_each_is_the_whole_file_are_not_read():
    """A few bytes of directory each, and memory for as many files."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, labels_0=np.zeros(9, np.uint8), final_0=np.ones(9, np.uint8))
    content = bytearray(buffer.getvalue())
    assert read_predictions(bytes(content)).keys() == {"labels_0", "final_0"}
    at = content.find(b"PK\x01\x02")
    content[at + 20 : at + 24] = struct.pack("<L", len(content) - 10)
    with pytest.raises(ValueError, match="overlap"):
        read_predictions(bytes(content))


def test_an_array_larger_than_memory_is_a_clear_error(tmp_path):
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (999999999999999,), }"
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("train_images.npy", member)
    with pytest.raises(UsageError, match=r"not an \.npz file of plain arrays"):
        imported.import_file("runes", tmp_path / "a.npz")


def sparse(file: pathlib.Path, size: int) -> pathlib.Path:
    """A file that says it is large and takes no room."""
    with file.open("wb") as stream:
        stream.truncate(size)
    return file


def test_giant_files_are_not_read(tmp_path):
    with pytest.raises(ValueError, match="more than"):
        files.read_json(sparse(tmp_path / "a.json", 2**40))
    sparse(tmp_path / "record.json", 2**40)
    with pytest.raises(BellBenchError, match="more than"):
        JobFolder(tmp_path).record()
    with pytest.warns(UserWarning, match="more than"):
        assert read_records([tmp_path]) == []
    sparse(tmp_path / f"{'0' * 64}.safetensors", 2**40)
    with pytest.raises(BellBenchError, match="more than"):
        Library(tmp_path)._read("0" * 64)
    with pytest.raises(UsageError):
        Submission.read(sparse(tmp_path / "a.zip", 2**40))


def test_giant_predictions_are_no_result(tmp_path):
    folder = JobFolder(tmp_path)
    folder.write(read(record()))
    folder.predictions_file.write_bytes(b"")
    assert folder.finished()
    sparse(folder.predictions_file, 2**40)
    assert not folder.finished()


def test_a_large_checkpoint_is_checked_piece_by_piece(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    folder = checkpoints.begin(1)
    sparse(folder / "weights", 2**26)
    tracemalloc.start()
    checkpoints.complete(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    """Nobody will ever write to it: a reader that opens it as it would a file hangs."""
    job = tmp_path / "job"
    job.mkdir()
    for name in ("record.json", "predictions.npz", f"{'0' * 64}.safetensors", "../all.zip"):
        os.mkfifo(job / name)
    with pytest.raises(ValueError, match="not a plain file"):
        files.read_arrays(job / "predictions.npz")
    with pytest.raises(BellBenchError, match="not a plain file"):
        JobFolder(job).record()
    with pytest.raises(BellBenchError, match="not a plain file"):
        Library(job)._read("0" * 64)
    with pytest.warns(UserWarning, match="not a plain file"):
        assert read_records([tmp_path]) == []
    with pytest.raises(ValueError, match="not a plain file"):
        files.read_json(pathlib.Path(os.devnull))


def test_a_job_writes_neither_where_a_link_leads_nor_into_a_pipe(tmp_path):
    store, job = ResultStore(tmp_path / "runs"), Job(load="x:X", **record()["job"])
    folder = store.prepare(job, fresh=False)
    (tmp_path / "mine").write_text("untouched")
    folder.log_file.symlink_to(tmp_path / "mine")
    folder.lock_file.symlink_to(tmp_path / "not there")
    os.mkfifo(folder.events_file)
    store.prepare(job, fresh=False)
    assert [file.name for file in folder.path.iterdir()] == ["job.json"]
    assert (tmp_path / "mine").read_text() == "untouched"


def test_clearing_a_job_leaves_what_a_link_leads_to(tmp_path):
    kept = tmp_path / "elsewhere" / "kept"
    kept.mkdir(parents=True)
    folder = JobFolder(tmp_path / "job")
    folder.path.mkdir()
    folder.work.symlink_to(kept.parent)
    folder.log_file.symlink_to(tmp_path / "nowhere")
    folder.clear()
    assert list(folder.path.iterdir()) == []
    assert kept.exists()


def test_a_giant_evaluation_is_dropped(tmp_path):
    key = "0" * 64
    (tmp_path / "00").mkdir()
    file = sparse(tmp_path / "00" / f"{key}-{key}.safetensors", 2**40)
    with pytest.warns(evaluations.StoreWarning, match="damaged"):
        assert EvaluationStore(tmp_path).get(key) is None
    assert not file.exists()


@pytest.mark.parametrize("length", [2**63 - 1, 2**40, 10**9])
def test_a_header_that_announces_too_much_is_damage(tmp_path, length):
    content = struct.pack("<Q", length) + b"{}"
    (tmp_path / f"{'0' * 64}.safetensors").write_bytes(content)
    with pytest.raises(BellBenchError, match="damaged"):
        Library(tmp_path)._read("0" * 64)
    assert evaluations.read_record(content, "0" * 64) is None
    with pytest.raises(safetensors.SafetensorError):
        safetensors.deserialize(content)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 10**6, "9" * 10**6, "NaN", "-Infinity"])
def test_json_that_goes_too_far_is_no_json(text):
    with pytest.raises(ValueError, match=r".+"):
        files.parse_json(text.encode())


@pytest.mark.parametrize("content", [b"\x93" * 10**6, b'{"schema": "%s"}' % (b"x" * 10**6)])
def test_what_is_wrong_with_a_large_file_is_told_in_few_words(tmp_path, content):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "record.json").write_bytes(content)
    with pytest.warns(UserWarning, match="left out") as told:
        assert read_records([tmp_path]) == []
    assert len(str(told[0].message)) < 1000


def test_deep_json_in_results_is_left_out(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "record.json").write_text("[" * 10**6)
    (tmp_path / "job" / "job.json").write_text(json.dumps({}))
    with pytest.warns(UserWarning, match="left out"):
        assert read_records([tmp_path]) == []
