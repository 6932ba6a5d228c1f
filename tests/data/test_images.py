"""Real images: the genuine files where there are any, small ones in the official formats."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest

from bell_bench.data import DomainSizes, load_domain, missing
from bell_bench.data.catalogue import EMNIST, K49, MNIST
from bell_bench.data.official import read, read_idx
from bell_bench.errors import BellBenchError
from bell_bench.suites.bell.domains import DOMAINS
from bell_bench_drawn.glyph_styles import NAMES
from tests.data.official_formats import (
    emnist_files,
    emnist_members,
    expect,
    k49_files,
    made_images,
    mnist_files,
    write,
)

ALL = DomainSizes(train=None, validation=4800, test=None)


def _rows(images):
    return {image.tobytes() for image in np.asarray(images)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "train", "test", "mean"),
    [("mnist_1", 43_400, 8_017, 32.92), ("fmnist_1", 43_200, 8_000, 70.25)],
)
def test_genuine_images(genuine, name, train, test, mean):
    domain = load_domain(name, "images", ALL)
    assert domain.train_images.shape == (train, 28, 28)
    assert domain.validation_images.shape == (4800, 28, 28)
    assert domain.test_images.shape == (test, 28, 28)
    assert np.bincount(domain.validation_labels).tolist() == [600] * 8
    assert domain.mean == pytest.approx(mean, abs=0.01)
    smaller = load_domain(name, "images", DomainSizes(800, 400, 80))
    np.testing.assert_array_equal(smaller.train_images, domain.train_images[:800])
    np.testing.assert_array_equal(smaller.validation_labels, domain.validation_labels[:400])
    assert np.bincount(smaller.train_labels).tolist() == [100] * 8
    assert np.bincount(smaller.test_labels).tolist() == [10] * 8


@pytest.mark.slow
def test_the_second_load_reads_no_official_file(genuine, monkeypatch):
    first = load_domain("mnist_1", "images", DomainSizes(80, 80, 80))
    monkeypatch.setattr("bell_bench.data.official.read", None)
    assert (
        load_domain("mnist_1", "images", DomainSizes(80, 80, 80)).fingerprint == first.fingerprint
    )


@pytest.mark.parametrize("layout", ["zip", "raw", "gz"])
def test_emnist_is_upright_and_cut_into_letters(folder, monkeypatch, layout):
    made = made_images(range(1, 27))
    files = emnist_files(made)
    expect(monkeypatch, EMNIST, files)
    if layout == "raw":
        files = {f"EMNIST/raw/{name}": content for name, content in emnist_members(made).items()}
    elif layout == "gz":
        files = {
            f"EMNIST/raw/{name}.gz": gzip.compress(content, mtime=0)
            for name, content in emnist_members(made).items()
        }
    write(folder, files)
    for place, name in enumerate(("emnist_1", "emnist_2", "emnist_3")):
        domain = load_domain(name, "images", ALL)
        letters = domain.train_images[:, 0, 0]  # the label that EMNIST has for it, counted from 1
        np.testing.assert_array_equal(letters, domain.train_labels + 8 * place + 1)
        assert len(domain.test_labels) == 8 * 12


def test_kuzushiji_49_classes(folder, monkeypatch):
    files = k49_files(made_images(range(49)))
    expect(monkeypatch, K49, files)
    write(folder, files)
    for name in ("k49_1", "k49_2", "k49_3", "k49_4"):
        domain = load_domain(name, "images", ALL)
        original = domain.test_images[:, 0, 0]
        classes = np.array(DOMAINS[name].classes)
        np.testing.assert_array_equal(original, classes[domain.test_labels])


def test_splits_share_no_image_and_lose_none(folder, monkeypatch):
    made = made_images(range(10))
    expect(monkeypatch, MNIST, mnist_files(made))
    write(folder, mnist_files(made))
    domain = load_domain("mnist_1", "images", ALL)
    train, validation = _rows(domain.train_images), _rows(domain.validation_images)
    assert len(validation) == 8 * 30 // 5
    assert not train & validation
    assert train | validation == _rows(made["train_images"][made["train_labels"] < 8])
    assert _rows(domain.test_images) == _rows(made["test_images"][made["test_labels"] < 8])


def test_domains_are_those_of_the_protocol():
    assert tuple(DOMAINS) == NAMES, "the drawn ones stand in for these"
    classes = [label for name in NAMES[2:6] for label in DOMAINS[name].classes]
    assert len(set(classes)) == 32
    assert DOMAINS["k49_4"].classes == (34, 35, 37, 38, 39, 40, 41, 46)
    assert DOMAINS["emnist_3"].classes == tuple(range(17, 25))


def test_torchvision_knows_the_same_checksums():
    from bell_bench.compat import import_torchvision

    datasets = import_torchvision().datasets
    for name in ("mnist_1", "fmnist_1"):
        collection = DOMAINS[name].collection
        ours = [(file.name, file.md5) for file in collection.files]
        assert ours == getattr(datasets, collection.name).resources
    assert EMNIST.files[0].md5 == datasets.EMNIST.md5
    assert EMNIST.mirrors[0] + EMNIST.files[0].name == datasets.EMNIST.url


@pytest.mark.parametrize("layout", ["gz", "raw"])
def test_mnist_is_read_as_torchvision_reads_it(folder, monkeypatch, layout):
    from bell_bench.compat import import_torchvision

    made = made_images(range(10))
    files = mnist_files(made)
    expect(monkeypatch, MNIST, files)
    raw = {name.removesuffix(".gz"): gzip.decompress(content) for name, content in files.items()}
    write(folder, files if layout == "gz" else raw)
    ours = read(DOMAINS["mnist_1"].collection)  # with the checksums that were put there
    write(folder, raw)
    for split in ("train", "test"):
        theirs = import_torchvision().datasets.MNIST(folder, train=split == "train")
        np.testing.assert_array_equal(ours[f"{split}_images"], theirs.data.numpy())
        np.testing.assert_array_equal(ours[f"{split}_labels"], theirs.targets.numpy())
        assert ours[f"{split}_labels"].dtype == np.int64


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is no idx file"),
        (bytes([0, 0, 8, 3, 0, 0, 0, 1]), "is no idx file"),
        (bytes([0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0]), "is no idx file"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 2, 7]), "has 1 values, its header says \\[2\\]"),
        (bytes([0, 0, 8, 1, 255, 255, 255, 255, 7]), "has 1 values, its header says"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 1, 7, 7]), "has 2 values, its header says"),
    ],
)
def test_what_is_no_idx_file_is_told(content, complaint):
    with pytest.raises(ValueError, match=f"some-labels {complaint}"):
        read_idx(content, "some-labels", dimensions=1)


def test_no_image_needs_torchvision(folder, monkeypatch):
    files = mnist_files(made_images(range(10)))
    expect(monkeypatch, MNIST, files)
    write(folder, files)
    monkeypatch.setitem(sys.modules, "torchvision", None)  # an import of it raises
    assert len(load_domain("mnist_1", "images", ALL).test_labels) == 8 * 12


@pytest.mark.parametrize("damage", ["truncated", "altered"])
def test_a_corrupt_official_file_is_named(folder, monkeypatch, damage):
    files = mnist_files(made_images(range(10)))
    expect(monkeypatch, MNIST, files)
    name = "MNIST/raw/t10k-images-idx3-ubyte.gz"
    content = bytearray(files[name])
    content[50] ^= 1
    write(folder, {**files, name: files[name][:100] if damage == "truncated" else bytes(content)})
    assert missing(["mnist_1"], "images") == {}  # cheap: it reads no file
    with pytest.raises(BellBenchError, match=r"t10k-images-idx3-ubyte.gz is corrupt or incomplete"):
        load_domain("mnist_1", "images", ALL)


def test_truncated_unpacked_files_are_an_error(folder):
    members = emnist_members(made_images(range(1, 27)))
    files = {f"EMNIST/raw/{name}": content[:-50] for name, content in members.items()}
    write(folder, files)
    with pytest.raises(BellBenchError, match=r"cannot read EMNIST letters in .*EMNIST"):
        load_domain("emnist_1", "images", ALL)


@pytest.mark.parametrize(
    ("name", "megabytes"), [("train-images-idx3", 257), ("test-labels-idx1", 5)]
)
def test_a_bomb_among_the_unpacked_files_is_named_and_not_unpacked(folder, name, megabytes):
    """No checksum is known of these."""
    members = emnist_members(made_images(range(1, 27)))
    files = {f"EMNIST/raw/{name}": content for name, content in members.items()}
    files.pop(f"EMNIST/raw/emnist-letters-{name}-ubyte")
    bomb = gzip.compress(bytes(2**20)) * megabytes
    write(folder, {**files, f"EMNIST/raw/emnist-letters-{name}-ubyte.gz": bomb})
    with pytest.raises(BellBenchError, match=rf"emnist-letters-{name}-ubyte has more than"):
        load_domain("emnist_1", "images", ALL)


def test_an_npz_with_pickles_is_refused(folder, monkeypatch):
    import io

    buffer = io.BytesIO()
    np.savez(buffer, np.array([{"a": 1}], dtype=object))
    files = {**k49_files(made_images(range(49)))}
    files["Kuzushiji49/k49-train-imgs.npz"] = buffer.getvalue()
    expect(monkeypatch, K49, files)
    write(folder, files)
    with pytest.raises(BellBenchError, match="cannot read Kuzushiji-49"):
        load_domain("k49_1", "images", ALL)


def test_a_part_of_the_files_is_not_enough(folder):
    files = mnist_files(made_images(range(10)))
    files.pop("MNIST/raw/train-labels-idx1-ubyte.gz")
    write(folder, files)
    assert (
        "lacks MNIST/raw/train-labels-idx1-ubyte.gz;" in missing(["mnist_1"], "images")["mnist_1"]
    )
