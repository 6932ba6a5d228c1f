"""load and missing: the contract that the streams build on, and the cache behind it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.data import load_domain, missing, sources
from bell_bench.data.cut import cut_splits
from bell_bench.data.domain import DomainSizes
from bell_bench.data.imported import import_file, imported_path
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.folders import cache_folder
from bell_bench.suites.bell.domains import DOMAINS as BELL_DOMAINS
from bell_bench.suites.ctrl.domains import DOMAINS
from bell_bench_drawn import colour as drawn
from bell_bench_drawn.glyphs import SPLITS
from tests.data.colour.official_formats import made_colours
from tests.data.official_formats import made_images


def test_datasets_are_those_of_the_protocol():
    told = {name: (each.cut.classes, each.cut.validation) for name, each in DOMAINS.items()}
    assert told == {
        "cifar10": (10, 500),
        "cifar100": (100, 50),
        "svhn": (10, 500),
        "dtd": (47, 27),
        "mnist": (10, 500),
        "fashion_mnist": (10, 500),
    }


def test_embedded_pools_serve_the_longest_stream():
    """Up to 1000 training and 500 validation images per class; 450 and 50; 40 and 20."""
    for name, domain in DOMAINS.items():
        least = {"cifar100": (450, 50), "dtd": (40, 20)}.get(name, (1000, 500))
        embedded = drawn.ARTISTS[name]
        assert (embedded.train, embedded.validation) >= least
        assert embedded.validation == domain.cut.validation


def pool(domain, split):
    """A split's images and labels."""
    return getattr(domain, f"{split}_images"), getattr(domain, f"{split}_labels")


def test_an_embedded_dataset():
    domain = load_domain("dtd", "glyphs")
    assert domain.classes == 47
    for split, each in (("train", 53), ("validation", 27), ("test", 40)):
        images, labels = pool(domain, split)
        assert images.shape == (47 * each, 32, 32, 3)
        assert labels.dtype == np.int64
        assert np.bincount(labels).tolist() == [each] * 47
        assert isinstance(images, np.memmap)
        assert not images.flags.writeable
    np.testing.assert_array_equal(
        domain.test_images[domain.test_labels == 7], drawn.draw("dtd", 7, "test", 40)
    )


def test_the_second_load_draws_nothing(monkeypatch):
    first = load_domain("dtd", "glyphs")
    monkeypatch.setattr(drawn, "draw", None)
    assert load_domain("dtd", "glyphs").fingerprint == first.fingerprint
    (folder,) = (cache_folder() / "domains").iterdir()
    assert folder.name.startswith("dtd-")


def test_wrong_names_are_usage_errors():
    for ask in (load_domain, lambda name, data: missing([name], data)):
        with pytest.raises(UsageError, match="did you mean cifar10"):
            ask("cifar-10", "glyphs")
        with pytest.raises(UsageError, match="unknown data source 'photos'"):
            ask("cifar10", "photos")
    with pytest.raises(UsageError, match="unknown domain 'cifar10'"):  # no domain of BELL's
        load_domain("cifar10", "images", DomainSizes(8, 8, 8), BELL_DOMAINS)


def test_missing_tells_the_command():
    assert list(sources(DOMAINS)) == ["glyphs", "images"]
    for name in DOMAINS:
        assert missing([name], "glyphs") == {}
        assert f"`bell-bench data download {name}`" in missing([name], "images")[name]
        with pytest.raises(BellBenchError, match=f"images of {name} are not here: .*download"):
            load_domain(name, "images")


def test_missing_imports_nothing_heavy():
    code = (
        "import sys; from bell_bench.data import load_domain, missing;"
        "from bell_bench.suites.ctrl.domains import DOMAINS;"
        "[missing([name], data) for name in DOMAINS for data in ('glyphs', 'images')];"
        "heavy = ('torch', 'torchvision', 'matplotlib', 'scipy', 'PIL', 'rich');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}
    )
    assert done.stdout.strip() == "[]", done.stderr


counts = st.lists(st.integers(2, 60), min_size=10, max_size=10)


@given(counts, st.sampled_from(["cifar10", "cifar100"]))
@settings(max_examples=25, deadline=None)
def test_a_cut_loses_nothing_and_sets_aside_per_class(counts, name):
    labels = np.repeat(np.arange(10), counts)
    numbers = np.arange(len(labels))
    arrays = {
        "train_images": numbers,
        "train_labels": labels,
        "test_images": numbers,
        "test_labels": labels,
    }
    made = cut_splits(arrays, DOMAINS[name].cut, DomainSizes())
    both = np.concatenate([made["train_images"], made["validation_images"]])
    assert sorted(both) == numbers.tolist()
    for label, count in enumerate(counts):
        aside = np.count_nonzero(made["validation_labels"] == label)
        assert aside == min(DOMAINS[name].cut.validation, count // 2)
    np.testing.assert_array_equal(made["train_labels"], labels[made["train_images"]])
    np.testing.assert_array_equal(made["test_labels"], labels[made["test_images"]])
    again = cut_splits(arrays, DOMAINS[name].cut, DomainSizes())
    np.testing.assert_array_equal(made["validation_images"], again["validation_images"])


def _save(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_colour_images_are_imported(tmp_path):
    made = made_colours(20)
    import_file("cifar100", _save(tmp_path / "a.npz", **made))
    domain = load_domain("cifar100", "images")
    assert domain.classes == 20
    np.testing.assert_array_equal(domain.train_images[:, 0, 0, 0], domain.train_labels)
    assert [len(pool(domain, split)[1]) for split in SPLITS] == [120, 120, 120]


def test_grey_images_are_imported_and_enlarged(tmp_path):
    import_file("svhn", _save(tmp_path / "a.npz", **made_images(range(10))))
    domain = load_domain("svhn", "images")
    assert domain.test_images.shape == (120, 32, 32, 3)
    assert (domain.test_images == domain.test_images[..., :1]).all()
    assert not imported_path("svhn").with_suffix(".part").exists()


def test_classes_of_an_import_may_be_chosen(tmp_path):
    chosen = [19, 18, 3, 4, 5, 6, 7, 8, 9, 10]
    import_file("dtd", _save(tmp_path / "a.npz", **made_colours(20)), chosen)
    domain = load_domain("dtd", "images")
    original = domain.test_images[:, 0, 0, 0]
    np.testing.assert_array_equal(original, np.array(chosen)[domain.test_labels])


MADE = made_colours(10)
BAD = {
    r"shape \(n, 32, 32, 3\) or \(n, 28, 28\)": {"train_images": MADE["train_images"][:, :30]},
    "lacks test_images": {"test_images": None},
    "120 images, but 119 labels": {"train_labels": MADE["train_labels"][1:]},
    "has 9 classes; svhn needs 10": {
        "train_labels": np.minimum(MADE["train_labels"], 8),
        "test_labels": np.minimum(MADE["test_labels"], 8),
    },
    "has 4 train images of class 0": {
        "train_images": MADE["train_images"][80:],
        "train_labels": MADE["train_labels"][80:],
    },
}


@pytest.mark.parametrize("complaint", BAD)
def test_what_is_wrong_with_an_import_is_said(tmp_path, folder, complaint):
    arrays = {name: each for name, each in {**MADE, **BAD[complaint]}.items() if each is not None}
    with pytest.raises(UsageError, match=complaint):
        import_file("svhn", _save(tmp_path / "a.npz", **arrays))
    assert not folder.exists()


def test_too_many_classes(tmp_path):
    with pytest.raises(UsageError, match="has 20 classes; cifar10 needs 10"):
        import_file("cifar10", _save(tmp_path / "a.npz", **made_colours(20)))
    with pytest.raises(UsageError, match="has 3 classes; cifar100 needs 10 to 100"):
        import_file("cifar100", _save(tmp_path / "a.npz", **made_colours(20)), [1, 2, 3])
    with pytest.raises(UsageError, match="are not different ones"):
        import_file("cifar100", _save(tmp_path / "a.npz", **made_colours(20)), [1] * 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "train", "test"), [("mnist", 55_000, 10_000), ("fashion_mnist", 55_000, 10_000)]
)
def test_genuine_grey_images(genuine, name, train, test):
    domain = load_domain(name, "images")
    assert domain.classes == 10
    assert domain.train_images.shape == (train, 32, 32, 3)
    assert np.bincount(domain.validation_labels).tolist() == [500] * 10
    assert domain.test_images.shape == (test, 32, 32, 3)
    some = np.asarray(domain.train_images[:500])
    assert (some == some[..., :1]).all()
    assert some.max() > 250
    assert some[:, :2].mean() < 60  # a digit or garment in the middle of black


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file", "train", "validation", "test"),
    [
        ("cifar10", "cifar10_part.npz", 450, 450, 200),
        ("dtd", "dtd_10_classes.npz", 53, 27, 40),
    ],
)
def test_genuine_parts(genuine, monkeypatch, folder, name, file, train, validation, test):
    monkeypatch.setenv("BELL_BENCH_DATA", str(folder))
    import_file(name, genuine / "domains" / file)
    domain = load_domain(name, "images")
    for split, each in (("train", train), ("validation", validation), ("test", test)):
        assert np.bincount(pool(domain, split)[1]).tolist() == [each] * 10
    with np.load(genuine / "domains" / file) as content:
        originals = {image.tobytes(): label for image, label in
                     zip(content["test_images"], content["test_labels"], strict=True)}  # fmt: skip
    for image, label in zip(domain.test_images, domain.test_labels, strict=True):
        assert originals[image.tobytes()] == label
