"""load_domain: the contract, and the cache behind it."""

from __future__ import annotations

import errno
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bell_bench.data import DomainSizes, load_domain, missing, sources
from bell_bench.data.domain import pixel_statistics
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.folders import cache_folder, data_folder
from bell_bench.suites.bell.domains import DOMAINS
from bell_bench_drawn import glyphs

SMALL = DomainSizes(train=80, validation=40, test=24)


def test_a_glyph_domain_has_what_was_asked_for():
    domain = load_domain("emnist_3", "glyphs", SMALL)
    assert domain.name == "emnist_3"
    assert [len(domain.train_images), len(domain.validation_images)] == [80, 40]
    assert domain.test_images.shape == (24, 28, 28)
    assert domain.train_labels.dtype == np.int64
    assert isinstance(domain.train_images, np.memmap)
    assert not domain.train_images.flags.writeable
    assert len(domain.fingerprint) == 64


def test_the_second_load_draws_nothing_and_gives_the_same(monkeypatch):
    first = load_domain("mnist_1", "glyphs", SMALL)
    monkeypatch.setattr(glyphs, "draw", None)
    second = load_domain("mnist_1", "glyphs", SMALL)
    np.testing.assert_array_equal(first.train_images, second.train_images)
    assert (first.mean, first.std) == (second.mean, second.std)
    assert first.fingerprint == second.fingerprint


def test_domains_and_sizes_differ_in_fingerprint():
    sizes = [SMALL, DomainSizes(80, 40, 25)]
    prints = {load_domain(n, "glyphs", s).fingerprint for n in tuple(DOMAINS)[:2] for s in sizes}
    assert len(prints) == 4


def test_more_than_there_are_gives_all(monkeypatch):
    monkeypatch.setattr(glyphs, "ALL", {"train": 64, "validation": 16, "test": 24})
    for sizes in (DomainSizes(None, 16, None), DomainSizes(9999, 9999, 9999)):
        domain = load_domain("k49_2", "glyphs", sizes)
        counts = [len(domain.train_labels), len(domain.validation_labels), len(domain.test_labels)]
        assert counts == [64, 16, 24]


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip", "header", "delete", "json"])
def test_a_damaged_cache_is_made_again(damage):
    whole = load_domain("mnist_1", "glyphs", SMALL).fingerprint
    (folder,) = (cache_folder() / "domains").iterdir()
    file = folder / "train_images.npy"
    content = bytearray(file.read_bytes())
    if damage == "truncate":
        file.write_bytes(content[:1000])
    elif damage == "empty":  # as a power cut leaves it
        file.write_bytes(b"")
    elif damage == "flip":
        content[-1] ^= 1
        file.write_bytes(content)
    elif damage == "header":  # numpy's tokenizer raises what is no ValueError
        file.write_bytes(content.replace(b"(", b"\0", 1))
    elif damage == "delete":
        file.unlink()
    else:
        (folder / "about.json").write_text("{")
    again = load_domain("mnist_1", "glyphs", SMALL)
    assert again.fingerprint == whole
    assert [path.name for path in (cache_folder() / "domains").iterdir()] == [folder.name]


def test_a_cache_that_cannot_be_read_just_now_is_kept(monkeypatch):
    load_domain("mnist_1", "glyphs", SMALL)
    before = sorted((cache_folder() / "domains").rglob("*"))

    def busy(*anything, **more):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(np, "load", busy)
        with pytest.raises(BellBenchError, match="Too many open files"):
            load_domain("mnist_1", "glyphs", SMALL)
    assert sorted((cache_folder() / "domains").rglob("*")) == before
    assert load_domain("mnist_1", "glyphs", SMALL)


def test_a_cache_that_cannot_be_written_says_so(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BELL_BENCH_CACHE", str(tmp_path / "file"))
    with pytest.raises(BellBenchError, match="BELL_BENCH_CACHE"):
        load_domain("mnist_1", "glyphs", SMALL)


def test_wrong_names_are_usage_errors():
    with pytest.raises(UsageError, match="did you mean mnist_1"):
        load_domain("mnist1", "glyphs", SMALL)
    with pytest.raises(UsageError, match="did you mean glyphs"):
        load_domain("mnist_1", "glyph", SMALL)
    with pytest.raises(UsageError, match="unknown domain 'nist'"):
        load_domain("nist", "images", SMALL)
    with pytest.raises(UsageError, match="0 test images"):
        load_domain("mnist_1", "glyphs", DomainSizes(8, 8, 0))


def test_missing_names_the_domain_and_the_command():
    assert missing(tuple(DOMAINS), "glyphs") == {}
    lacking = missing(["k49_1", "mnist_1"], "images")
    assert list(lacking) == ["k49_1", "mnist_1"]
    assert "bell-bench data download k49_1" in lacking["k49_1"]
    with pytest.raises(BellBenchError, match="bell-bench data download k49_1"):
        load_domain("k49_1", "images", SMALL)


def test_statistics_are_exact():
    images = np.random.RandomState(0).randint(0, 256, (1500, 28, 28)).astype(np.uint8)
    mean, std = pixel_statistics(images)
    values = [int(v) for v in images.ravel()]
    exact = Fraction(sum(values), len(values))
    variance = Fraction(sum(v * v for v in values), len(values)) - exact * exact
    assert mean == float(exact)
    assert std == math.sqrt(float(variance))


def test_folders_follow_the_environment(monkeypatch):
    monkeypatch.setenv("BELL_BENCH_DATA", "~/images")
    assert data_folder() == Path.home() / "images"
    monkeypatch.delenv("BELL_BENCH_DATA")
    monkeypatch.delenv("BELL_BENCH_CACHE")
    assert "bell-bench" in str(data_folder())
    assert "bell-bench" in str(cache_folder())


def test_importing_and_drawing_needs_no_torch():
    code = (
        "import sys; from bell_bench.data import load_domain, DomainSizes, missing;"
        "load_domain('mnist_1', 'glyphs', DomainSizes(8, 8, 8)); missing(['mnist_1'], 'images');"
        "print([m for m in ('torch', 'torchvision', 'matplotlib', 'rich') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_sources_are_summarised():
    assert list(sources()) == ["glyphs", "images"]


@pytest.mark.parametrize("variable", ["BELL_BENCH_DATA", "BELL_BENCH_CACHE"])
def test_a_folder_in_nobodys_home_is_told(monkeypatch, variable):
    monkeypatch.setenv(variable, "~nobody.of.this.name/x")
    ask = data_folder if variable == "BELL_BENCH_DATA" else cache_folder
    with pytest.raises(UsageError, match=rf"{variable}: ~nobody\.of\.this\.name/x"):
        ask()
