"""``bell-bench data`` as a person uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from bell_bench.cli.data import command
from bell_bench.data import DomainSizes, load_domain
from bell_bench.data.catalogue import MNIST
from bell_bench.data.contact_sheet import draw_domain
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.suites.bell.domains import DOMAINS as BELL_DOMAINS
from bell_bench.suites.ctrl.domains import DOMAINS as COLOUR
from tests.data.official_formats import emnist_members, expect, made_images, mnist_files, write


def run(*arguments: str) -> str:
    """The verb's output; its errors are raised, as ``bell-bench`` gets to see them."""
    return CliRunner().invoke(command, arguments, catch_exceptions=False).output


def _rows(*arguments: str) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in json.loads(run("list", "--json", *arguments))}


def test_list_tells_what_is_here(folder, tmp_path):
    files = mnist_files(made_images(range(10)))
    write(folder, files)
    write(folder, {"FashionMNIST/raw/train-images-idx3-ubyte.gz.part": b"begun"})
    np.savez(tmp_path / "a.npz", **made_images(range(8)))
    run("import", "runes", str(tmp_path / "a.npz"))
    rows = _rows()
    assert list(rows) == [*BELL_DOMAINS, "runes", *COLOUR]
    assert rows["mnist_1"]["status"] == "present"
    assert rows["mnist_1"]["bytes"] == sum(map(len, files.values()))
    assert rows["fmnist_1"]["status"] == "partial"
    assert rows["k49_1"]["status"] == "missing"
    assert rows["k49_1"]["licence"] == "CC BY-SA 4.0"
    assert rows["runes"]["source"] == "imported"
    text = run("list")
    assert "bell-bench data download k49_1" in text
    assert str(folder) in text


def test_list_of_glyphs():
    assert {row["status"] for row in _rows("--source", "glyphs").values()} == {"present"}
    with pytest.raises(UsageError, match="unknown data source"):
        run("list", "--source", "photos")


def test_list_imports_no_torch():
    code = (
        "import sys; from bell_bench.cli.data import command;"
        "command(['list'], standalone_mode=False);"
        "print([m for m in ('torch', 'torchvision', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_import_says_what_it_replaces(tmp_path):
    np.savez(tmp_path / "a.npz", **made_images(range(10)))
    output = run("import", "k49_1", str(tmp_path / "a.npz"), "--classes", "0,1,2,4,5,6,7,8")
    assert "k49_1 now means these images, not those of Kuzushiji-49" in output
    assert "used instead of the official images" in _rows()["k49_1"]["detail"]
    with pytest.raises(UsageError, match="--classes 'all' is not a list"):
        run("import", "k49_1", str(tmp_path / "a.npz"), "--classes", "all")


@pytest.mark.slow
def test_genuine_parts_import(genuine, monkeypatch, folder):
    monkeypatch.setenv("BELL_BENCH_DATA", str(folder))
    parts = genuine / "domains"
    run("import", "emnist_1", str(parts / "emnist_letters_a_to_h.npz"))
    run("import", "kmnist", str(parts / "kmnist_part.npz"))
    domain = load_domain("emnist_1", "images", DomainSizes(None, 4800, None))
    assert [len(domain.train_labels), len(domain.test_labels)] == [3840, 1600]
    run("import", "cifar", str(parts / "cifar10_part.npz"))
    domain = load_domain("cifar", "images", DomainSizes(None, 4800, None))
    assert domain.test_images.shape == (1600, 28, 28), "eight classes, made grey"


@pytest.mark.slow
def test_verify(folder, monkeypatch, tmp_path):
    assert "no files to check" in run("verify")
    files = mnist_files(made_images(range(10)))
    expect(monkeypatch, MNIST, files)
    write(folder, files)
    members = emnist_members(made_images(range(1, 27)))
    write(folder, {f"EMNIST/raw/{name}": content for name, content in members.items()})
    np.savez(tmp_path / "a.npz", **made_images(range(8)))
    run("import", "runes", str(tmp_path / "a.npz"))
    lines = run("verify").splitlines()
    assert len(lines) == 4 + 4 + 1
    assert all(line.startswith("ok") for line in lines)
    write(folder, {"MNIST/raw/t10k-labels-idx1-ubyte.gz": b"half"})
    with pytest.raises(BellBenchError, match=r"1 of 4 files are corrupt: .*t10k-labels"):
        run("verify", "mnist_1")
    with pytest.raises(UsageError, match="unknown domain"):
        run("verify", "mnist_2")


def test_download_knows_its_names(folder, monkeypatch):
    files = mnist_files(made_images(range(10)))
    expect(monkeypatch, MNIST, files)
    write(folder, files)
    assert "MNIST: already here (CC BY-SA 3.0" in run("download", "mnist_1")
    with pytest.raises(UsageError, match="did you mean mnist_1"):
        run("download", "mnist1")
    with pytest.raises(UsageError, match="https only"):
        run("download", "mnist_1", "--mirror", "http://example.org")


@pytest.mark.slow
def test_a_picture_of_a_domain(tmp_path):
    domain = load_domain("mnist_1", "glyphs", DomainSizes(64, 8, 8))
    draw_domain(domain, "glyphs", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
