from __future__ import annotations

import errno
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_worker import make_entry

from bell_bench import files
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.modular.evaluations import (
    EvaluationStore,
    StoreWarning,
    default_limit,
    read_record,
)


def put(store: EvaluationStore, number: int, payload: bytes = b"x" * 100) -> pathlib.Path:
    key, content = make_entry(number, payload)
    store.get_or_compute(key, lambda: content)
    return next(store.folder.glob(f"*/{key}-*"))


def numbers(store: EvaluationStore) -> list[int]:
    known = {make_entry(number)[0]: number for number in range(20)}
    return [known[entry.key] for entry in store.entries()]


@pytest.fixture
def store(tmp_path):
    return EvaluationStore(tmp_path / "evaluations", limit_bytes=10**6)


def test_computes_once_and_finds_it_again(store):
    key, content = make_entry(1)
    assert store.get(key) is None
    entry, hit = store.get_or_compute(key, lambda: content)
    assert not hit
    assert entry.stored
    assert entry.record["figures"] == {"accuracy": 0.5}
    again, hit = EvaluationStore(store.folder).get_or_compute(key, lambda: pytest.fail("again"))
    assert hit
    assert again == entry
    names = [file.name for file in store.folder.rglob("*") if file.is_file()]
    assert names == [f"{key}-{files.sha256(content)}.safetensors"]


def test_nothing_is_created_by_looking(store):
    assert store.entries() == []
    assert list(store.verify()) == []
    assert store.clear() == (0, 0)
    assert store.get(make_entry(1)[0]) is None
    assert not store.folder.exists()


def test_exceptions_pass_and_are_not_stored(store):
    key, content = make_entry(1)
    with pytest.raises(ZeroDivisionError):
        store.get_or_compute(key, lambda: bytes([1 // 0]))
    assert store.entries() == []
    assert store.get_or_compute(key, lambda: content)[1] is False


def test_what_belongs_to_another_key_is_refused(store):
    key, _ = make_entry(1)
    with pytest.raises(BellBenchError, match="not an evaluation under key"):
        store.get_or_compute(key, lambda: make_entry(2)[1])
    file = put(store, 2)
    other = key + file.name[64:]
    (store.folder / key[:2]).mkdir(exist_ok=True)
    file.rename(store.folder / key[:2] / other)
    with pytest.warns(StoreWarning, match="damaged"):
        assert store.get(key) is None


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_damage_is_found_dropped_and_computed_again(store, data):
    file = put(store, 1)
    key, content = make_entry(1, b"x" * 100)
    damaged = bytearray(content)
    if data.draw(st.booleans(), "flip"):
        damaged[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del damaged[data.draw(st.integers(0, len(content) - 1)) :]
    file.write_bytes(damaged)
    with pytest.warns(StoreWarning, match=f"{file.name} is damaged"):
        assert store.get(key) is None
    assert not file.exists()
    entry, hit = store.get_or_compute(key, lambda: content)
    assert (entry.content, hit) == (content, False)


@settings(deadline=None)
@given(content=st.binary(max_size=200), key=st.text("0123456789abcdef", min_size=64, max_size=64))
def test_reading_garbage_never_raises(content, key):
    assert read_record(content, key) is None


@pytest.mark.parametrize("header", ["[]", "{}", '{"__metadata__": 1}', "[" * 100_000, "nan"])
def test_reading_odd_headers_never_raises(header):
    content = struct.pack("<Q", len(header)) + header.encode()
    assert read_record(content, "0" * 64) is None


def test_verify_tells_and_drops_the_damaged(store):
    good, bad = put(store, 1), put(store, 2)
    bad.write_bytes(bad.read_bytes()[:-1])
    with pytest.warns(StoreWarning):
        told = {entry.file: sound for entry, sound in store.verify()}
    assert told == {good: True, bad: False}
    assert numbers(store) == [1]


def test_least_recently_used_goes_first(store, tmp_path):
    sizes = [put(store, number).stat().st_size for number in range(4)]
    for number, entry in enumerate(store.entries()):
        os.utime(entry.file, (1000 + number, 1000 + number))
    order = numbers(store)
    store.get(make_entry(order[0])[0])  # used again, so the second is now the oldest
    assert numbers(store) == [*order[1:], order[0]]
    small = EvaluationStore(store.folder, limit_bytes=3 * max(sizes))
    put(small, 5)
    assert numbers(store) == [order[3], order[0], 5]


def test_the_entry_just_written_stays(store):
    small = EvaluationStore(store.folder, limit_bytes=1)
    put(small, 1)
    put(small, 2)
    assert numbers(small) == [2]


def test_size_is_measured_once_per_hundredth_written(store, monkeypatch):
    walks = []
    entries = EvaluationStore.entries
    monkeypatch.setattr(EvaluationStore, "entries", lambda self: walks.append(1) or entries(self))
    for number in range(9):
        put(store, number, b"x" * 3000)  # limit 1 MB, so every 10 kB and at first
    assert len(walks) == 3


def test_clear_by_age_leaves_other_files_alone(store):
    old, new = put(store, 1), put(store, 2)
    os.utime(old, (1000, 1000))
    foreign = [store.folder / "notes.txt", old.parent / "notes.txt", store.folder / "zz"]
    for file in foreign:
        file.write_text("mine")
    assert store.clear(older_than="1h")[0] == 1
    assert new.exists()
    size = new.stat().st_size
    assert store.clear() == (1, size)
    assert store.entries() == []
    assert all(file.exists() for file in foreign)


def test_leftovers_of_the_killed_are_swept(store):
    file = put(store, 1)
    leftover, fresh = file.with_name(".writing-old"), file.with_name(".writing-new")
    lock = file.with_name("0" * 64 + ".lock")
    for item in (leftover, fresh, lock):
        item.write_bytes(b"")
    os.utime(leftover, (1000, 1000))
    os.utime(lock, (1000, 1000))
    EvaluationStore(store.folder, limit_bytes=10**6)._sweep()
    assert sorted(item.name for item in file.parent.iterdir()) == sorted([file.name, fresh.name])


def test_where_the_store_cannot_be_written_results_stand_with_one_warning(tmp_path):
    (tmp_path / "occupied").write_text("a file where the folder should be")
    store = EvaluationStore(tmp_path / "occupied" / "evaluations")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for number in (1, 2):
            key, content = make_entry(number)
            entry, hit = store.get_or_compute(key, lambda content=content: content)
            assert entry.content == content
            assert not hit
            assert not entry.stored
    assert ["cannot be written" in str(warning.message) for warning in told] == [True]


def test_full_disk(store, monkeypatch):
    def fill(self, content):
        with open(self, "wb") as stream:
            stream.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_bytes", fill)
    key, content = make_entry(1)
    with pytest.warns(StoreWarning, match="No space left on device"):
        entry, _ = store.get_or_compute(key, lambda: content)
    assert entry.content == content
    assert not entry.stored
    assert not [file for file in store.folder.rglob("*") if file.is_file()]


def start(tmp_path, numbers, takes=0.3, limit=10**9):
    """A process that asks for some entries, each of which takes a while to compute."""
    worker = pathlib.Path(__file__).with_name("store_worker.py")
    arguments = [tmp_path / "evaluations", limit, tmp_path / "log", takes, *numbers]
    return subprocess.Popen([sys.executable, "-W", "error", worker, *map(str, arguments)])


def test_several_processes_do_the_work_once(tmp_path):
    processes = [start(tmp_path, [1, 2, 3]) for _ in range(4)]
    assert [process.wait(30) for process in processes] == [0] * 4
    assert sorted((tmp_path / "log").read_text().split()) == ["1", "2", "3"]
    store = EvaluationStore(tmp_path / "evaluations")
    assert all(sound for _, sound in store.verify())
    assert len([file for file in store.folder.rglob("*") if file.is_file()]) == 3


@pytest.mark.slow
def test_eviction_while_others_read_and_write(tmp_path):
    orders = [list(range(20)), list(reversed(range(20))), [*range(10, 20), *range(10)]]
    processes = [start(tmp_path, order * 5, takes=0, limit=5000) for order in orders]
    assert [process.wait(30) for process in processes] == [0] * 3
    store = EvaluationStore(tmp_path / "evaluations")
    assert all(sound for _, sound in store.verify())
    assert sum(entry.bytes for entry in store.entries()) < 5000 + 3 * 1300


def test_who_waits_takes_over_from_the_killed(tmp_path):
    first = start(tmp_path, [1], takes=60)
    while not (tmp_path / "log").exists():
        time.sleep(0.02)
    second = start(tmp_path, [1], takes=0)
    time.sleep(0.3)
    assert second.poll() is None
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert second.wait(30) == 0
    assert (tmp_path / "log").read_text().split() == ["1", "1"]


def test_a_write_is_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "file"
    files.write_whole(file, b"before")
    monkeypatch.setattr(pathlib.Path, "replace", lambda self, target: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        files.write_whole(file, b"after")
    assert file.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_is_told_by_its_own_name(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match=r"'.*/file'$"):
        files.write_whole(tmp_path / "file", b"content")


def test_limit_from_the_environment(monkeypatch):
    monkeypatch.setenv("BELL_BENCH_STORE_LIMIT", "3 MB")
    assert EvaluationStore("anywhere").limit_bytes == 3 * 10**6
    monkeypatch.setenv("BELL_BENCH_STORE_LIMIT", "")
    assert default_limit() == 20 * 10**9
    monkeypatch.setenv("BELL_BENCH_STORE_LIMIT", "plenty")
    with pytest.raises(UsageError, match="BELL_BENCH_STORE_LIMIT: 'plenty' is not a size"):
        default_limit()


def test_the_store_needs_no_torch():
    code = "import sys, bell_bench.modular.evaluations as e; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_warning_on_sound_use(store):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        put(store, 1)
        assert store.get(make_entry(1)[0])


def test_entries_of_another_store_are_received_once_and_only_if_sound(store, tmp_path):
    theirs = EvaluationStore(tmp_path / "theirs")
    file = put(theirs, 1)
    content = file.read_bytes()
    store.receive(file.name, content[:-1])
    store.receive(f"../{file.name}", content)
    assert store.entries() == []
    store.receive(file.name, content)
    assert numbers(store) == [1]
    again, slower = make_entry(1, b"y" * 100)
    store.receive(f"{again}-{files.sha256(slower)}.safetensors", slower)
    assert numbers(store) == [1]
    assert store.get(again).content == content
