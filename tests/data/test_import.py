"""One's own images: what is taken, what is refused, and that refusal leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from bell_bench import plugins
from bell_bench.data import DomainSizes, load_domain, missing
from bell_bench.data.imported import import_file, imported_path, read_imported
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.specs import DomainSpec
from tests.data.official_formats import made_images

ALL = DomainSizes(train=None, validation=4800, test=None)


def _save(path: Path, **changes) -> Path:
    arrays = {**made_images(range(10)), **changes}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_an_imported_domain_loads(tmp_path):
    path = import_file("runes", _save(tmp_path / "runes.npz"))
    assert missing(["runes"], "images") == {}
    domain = load_domain("runes", "images", ALL)
    assert [len(domain.train_labels), len(domain.validation_labels)] == [192, 48]
    np.testing.assert_array_equal(domain.test_images[:, 0, 0], domain.test_labels)
    assert [each.name for each in path.parent.iterdir()] == ["runes.npz"]


def test_classes_may_be_chosen(tmp_path):
    import_file("mnist_1", _save(tmp_path / "a.npz"), classes=[9, 8, 7, 6, 5, 4, 3, 2])
    domain = load_domain("mnist_1", "images", ALL)  # instead of the official one
    np.testing.assert_array_equal(domain.test_images[:, 0, 0], 9 - domain.test_labels)


def test_colour_images_are_made_grey(tmp_path):
    grey = made_images(range(10))
    coloured = {
        part: np.random.default_rng(0).integers(0, 256, (len(grey[part]), 32, 32, 3), np.uint8)
        for part in ("train_images", "test_images")
    }
    import_file("runes", _save(tmp_path / "a.npz", **coloured))
    found = read_imported("runes")["test_images"]
    light = coloured["test_images"][grey["test_labels"] < 8] @ np.array([0.299, 0.587, 0.114])
    theirs = functional.interpolate(torch.from_numpy(light)[:, None], (28, 28), mode="bilinear")
    assert found.shape == (len(light), 28, 28)
    assert np.abs(found - theirs[:, 0].numpy()).max() <= 1, "each of two roundings is off by a half"


def test_importing_again_replaces(tmp_path):
    import_file("runes", _save(tmp_path / "a.npz"))
    before = load_domain("runes", "images", ALL).fingerprint
    import_file("runes", _save(tmp_path / "a.npz"), classes=[9, 8, 7, 6, 5, 4, 3, 2])
    assert load_domain("runes", "images", ALL).fingerprint != before


MADE = made_images(range(10))
BAD = {
    "lacks test_labels": {"test_labels": None},
    "train_images is float64": {"train_images": MADE["train_images"] / 255},
    r"shape \(120, 32, 32, 4\)": {"test_images": np.zeros((120, 32, 32, 4), np.uint8)},
    "299 images, but 300 labels": {"train_images": MADE["train_images"][1:]},
    "labels are n whole numbers": {"train_labels": MADE["train_labels"] / 2},
    "holds -1; labels count from 0": {"train_labels": MADE["train_labels"].astype(int) - 1},
    "has 5 classes; a domain needs 8": {
        "train_labels": MADE["train_labels"] % 5,
        "test_labels": MADE["test_labels"] % 5,
    },
    r"test labels \[10\] never occur": {"test_labels": MADE["test_labels"] + 1},
    "has 0 train images|has 19 train images of class 0": {
        "train_images": MADE["train_images"][110:],
        "train_labels": MADE["train_labels"][110:],
    },
    "blank: every pixel is 0": {"train_images": np.zeros((300, 28, 28), np.uint8)},
    "not an .npz file of plain arrays": {"train_labels": np.array([{}] * 300, dtype=object)},
}


@pytest.mark.parametrize("complaint", BAD)
def test_what_is_wrong_is_said_and_nothing_stays(tmp_path, folder, complaint):
    file = _save(tmp_path / "bad.npz", **BAD[complaint])
    with pytest.raises(UsageError, match=complaint) as error:
        import_file("runes", file)
    assert "bad.npz" in str(error.value)
    assert not folder.exists()


def test_a_bad_file_leaves_the_former_import_alone(tmp_path):
    import_file("runes", _save(tmp_path / "good.npz"))
    with pytest.raises(UsageError):
        import_file("runes", _save(tmp_path / "bad.npz", test_labels=None))
    assert len(load_domain("runes", "images", ALL).test_labels) == 96


@pytest.mark.parametrize(
    "classes", [[0, 1, 2], [0, 0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6, 77]]
)
def test_impossible_classes(tmp_path, classes):
    with pytest.raises(UsageError, match="are not 8 different ones"):
        import_file("runes", _save(tmp_path / "a.npz"), classes)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"\x93NUMPY\x01\x00 cut", b"text"])
def test_files_that_are_no_npz(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.npz is not an \.npz file"):
        import_file("runes", tmp_path / "a.npz")


def test_a_single_array_is_no_npz(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(UsageError, match=r"not an .npz file"):
        import_file("runes", tmp_path / "a.npy")


def test_names_and_paths(tmp_path):
    with pytest.raises(UsageError, match="letters, digits"):
        import_file("../runes", _save(tmp_path / "a.npz"))
    with pytest.raises(UsageError, match="no such file"):
        import_file("runes", tmp_path / "absent.npz")


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "file"))
    with pytest.raises(BellBenchError, match="BELL_BENCH_DATA"):
        import_file("runes", _save(tmp_path / "a.npz"))


def test_an_import_that_was_altered_is_an_error(tmp_path):
    import_file("runes", _save(tmp_path / "a.npz"))
    with np.load(imported_path("runes")) as content:
        arrays = dict(content)
    arrays["test_labels"] = arrays["test_labels"][::-1]
    np.savez(imported_path("runes"), **arrays)
    with pytest.raises(BellBenchError, match=r"runes.npz is not as it was imported"):
        load_domain("runes", "images", ALL)
    imported_path("runes").write_bytes(imported_path("runes").read_bytes()[:500])
    with pytest.raises(BellBenchError, match=r"runes.npz is corrupt"):
        load_domain("runes", "images", ALL)


def plugin_arrays():
    return made_images(range(8))


def broken_arrays():
    raise RuntimeError("no disk")


def test_domains_of_plugins(monkeypatch):
    specs = [
        DomainSpec("stones", f"{__name__}:plugin_arrays", "stones", licence="CC0"),
        DomainSpec("ruins", f"{__name__}:broken_arrays", "ruins"),
    ]
    provided = [plugins.Provided(spec, "rocks", "bell-bench-rocks", "1.2") for spec in specs]
    monkeypatch.setitem(plugins.registry()._provided, DomainSpec, provided)
    assert missing(["stones"], "images") == {}
    assert len(load_domain("stones", "images", ALL).test_labels) == 96
    with pytest.raises(BellBenchError, match=r"'ruins' of bell-bench-rocks 1.2 failed: .*no disk"):
        load_domain("ruins", "images", ALL)


def test_two_plugins_with_one_name(monkeypatch):
    spec = DomainSpec("stones", f"{__name__}:plugin_arrays", "stones")
    provided = [plugins.Provided(spec, "rocks", f"dist-{which}", "1") for which in "ab"]
    monkeypatch.setitem(plugins.registry()._provided, DomainSpec, provided)
    assert load_domain("dist-b:stones", "images", ALL).name == "dist-b:stones"
    with pytest.raises(UsageError, match="unknown domain 'stones'"):
        load_domain("stones", "images", ALL)
