"""Official files in small: what is read, from archives and unpacked, and what is refused."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

from bell_bench.data import load_domain, missing
from bell_bench.data.catalogue import CIFAR10, DTD, MNIST, SVHN
from bell_bench.errors import BellBenchError
from bell_bench.suites.ctrl.domains import DOMAINS
from bell_bench_drawn.colour import ARTISTS
from tests.data.colour.official_formats import (
    archive,
    cifar10_members,
    cifar100_members,
    dtd_members,
    made_colours,
    svhn_files,
)
from tests.data.official_formats import expect, made_images, mnist_files, write


def _whole(domain):
    """Train and validation, in the order of the numbers in the images."""
    images = np.concatenate([domain.train_images, domain.validation_images])
    labels = np.concatenate([domain.train_labels, domain.validation_labels])
    order = np.argsort(images[:, 0, 0, 1].astype(int) * 256 + images[:, 0, 0, 2])
    return images[order], labels[order]


def _check(domain, made):
    images, labels = _whole(domain)
    np.testing.assert_array_equal(images, made["train_images"])
    np.testing.assert_array_equal(labels, made["train_labels"])
    np.testing.assert_array_equal(domain.test_images[:, 0, 0, 0], domain.test_labels)
    assert len(domain.test_labels) == len(made["test_labels"])


@pytest.mark.parametrize("layout", ["archive", "unpacked"])
@pytest.mark.parametrize(
    ("name", "members", "classes"),
    [("cifar10", cifar10_members, 10), ("cifar100", cifar100_members, 100)],
)
def test_cifar(folder, monkeypatch, name, members, classes, layout):
    made = made_colours(classes)
    files = {DOMAINS[name].collection.files[0].path: archive(members(made))}
    expect(monkeypatch, DOMAINS[name].collection, files)
    write(folder, files if layout == "archive" else members(made))
    assert missing([name], "images") == {}
    domain = load_domain(name, "images")
    assert domain.classes == classes
    _check(domain, made)


def test_svhn_counts_its_digits_from_zero(folder, monkeypatch):
    made = made_colours(10)
    expect(monkeypatch, SVHN, svhn_files(made))
    write(folder, svhn_files(made))
    _check(load_domain("svhn", "images"), made)


@pytest.mark.parametrize("layout", ["archive", "unpacked"])
def test_dtd_is_cut_by_its_first_split(folder, monkeypatch, layout):
    members = dtd_members()
    files = {"dtd/dtd-r1.0.1.tar.gz": archive(members)}
    expect(monkeypatch, DTD, files)
    unpacked = {f"dtd/{path}": content for path, content in members.items()}
    write(folder, files if layout == "archive" else unpacked)
    domain = load_domain("dtd", "images")
    assert domain.classes == 12
    for split, count in (("train", 5), ("validation", 5), ("test", 5)):
        images, labels = (getattr(domain, f"{split}_{part}") for part in ("images", "labels"))
        assert np.bincount(labels).tolist() == [count] * 12
        greys = images.astype(int).mean(axis=(1, 2, 3))
        assert np.abs(greys - 20 * labels).max() < 3  # classes in alphabetical order


def test_mnist_is_read_as_bell_reads_it(folder, monkeypatch):
    made = made_images(range(10))
    expect(monkeypatch, MNIST, mnist_files(made))
    write(folder, mnist_files(made))
    domain = load_domain("mnist", "images")
    assert domain.classes == 10
    assert (domain.test_images == domain.test_images[..., :1]).all()
    np.testing.assert_array_equal(domain.test_images[:, 0, 0, 0], domain.test_labels)


def test_python_pickles_are_left_alone(folder):
    """Torchvision's CIFAR files are pickles, which could run anything: they do not count."""
    write(folder, {"cifar-10-batches-py/data_batch_1": pickle.dumps({"data": 1})})
    write(folder, {"cifar-10-python.tar.gz": b"anything"})
    assert "bell-bench data download cifar10" in missing(["cifar10"], "images")["cifar10"]


@pytest.mark.parametrize("name", ["cifar10", "svhn", "dtd"])
def test_a_file_with_the_wrong_checksum_is_named(folder, name):
    files = DOMAINS[name].collection.files
    write(folder, {file.path: b"not what it says" for file in files})
    with pytest.raises(BellBenchError, match=files[0].name + " is corrupt"):
        load_domain(name, "images")


@pytest.mark.parametrize(
    "content", [archive({"cifar-10-batches-bin/test_batch.bin": b"short"}), b"no archive"]
)
def test_a_file_that_cannot_be_read_is_named(folder, monkeypatch, content):
    files = {"cifar-10-binary.tar.gz": content}
    expect(monkeypatch, CIFAR10, files)
    write(folder, files)
    with pytest.raises(BellBenchError, match="cannot read CIFAR-10"):
        load_domain("cifar10", "images")


@pytest.mark.parametrize(
    ("name", "path", "begin", "size"),
    [
        ("cifar10", "cifar-10-batches-bin/data_batch_3.bin", b"", 257 * 2**20),
        ("dtd", "dtd/dtd/labels/val1.txt", b"kind_a/", 5 * 2**20),
        ("dtd", "dtd/dtd/images/kind_a/kind_a_val0.jpg", b"P6 20000 20000 255 ", 100),
    ],
)
def test_an_unpacked_file_that_is_too_large_is_named(folder, name, path, begin, size):
    members = cifar10_members(made_colours(10)) if name == "cifar10" else dtd_members()
    write(folder if name == "cifar10" else folder / "dtd", members)
    write(folder, {path: begin})
    os.truncate(folder / path, size)
    with pytest.raises(BellBenchError, match=rf"cannot read .*: {path.rpartition('/')[2]}"):
        load_domain(name, "images")


def test_a_photograph_that_is_missing_is_an_error(folder, monkeypatch):
    members = dtd_members()
    members.pop("dtd/images/kind_a/kind_a_train0.jpg")
    write(folder, {f"dtd/{path}": content for path, content in members.items()})
    with pytest.raises(BellBenchError, match=r"cannot read DTD .*kind_a_train0"):
        load_domain("dtd", "images")


def test_torchvision_knows_the_same_checksums():
    from bell_bench.compat import import_torchvision

    datasets = import_torchvision().datasets
    theirs = [datasets.SVHN.split_list[split][1:] for split in ("train", "test")]
    assert [[file.name, file.md5] for file in SVHN.files] == theirs
    assert DTD.files[0].md5 == datasets.DTD._MD5
    assert DTD.mirrors[0] + DTD.files[0].name == datasets.DTD._URL


def test_the_catalogue_covers_the_datasets():
    assert list(DOMAINS) == list(ARTISTS), "the drawn ones stand in for these"
    assert CIFAR10.files[0].name == "cifar-10-binary.tar.gz"  # not the pickles
    for domain in DOMAINS.values():
        assert domain.collection.licence
        assert domain.collection.homepage.startswith("http")
