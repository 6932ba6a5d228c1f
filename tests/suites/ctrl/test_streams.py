"""Streams, realisations and tasks."""

from __future__ import annotations

import hashlib
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.suites.ctrl.rainbow import rainbow
from bell_bench.suites.ctrl.streams import LONG_DATASETS, STREAMS, realise
from bell_bench.suites.ctrl.suite import CTRL, CTRL_RESNET

from .fake_images import Loads, sequence, tiny

SHORT = ("s_minus", "s_plus", "s_in", "s_out", "s_pl")


def table(name: str, **settings: str) -> list[str]:
    return [
        f"{'rainbow' if row['colour'] else row['domain']} {row['points']}/{row['validation']}"
        for row in sequence(name, seed=3, **settings).describe()
    ]


MIDDLE = ["mnist 400/200", "dtd 400/200", "fashion_mnist 400/200", "svhn 400/200"]


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("s_minus", ["cifar10 4000/2000", *MIDDLE, "cifar10 400/200"]),
        ("s_plus", ["cifar10 400/200", *MIDDLE, "cifar10 4000/2000"]),
        ("s_out", ["cifar10 4000/2000", *MIDDLE, "cifar10 400/200"]),
        ("s_in", ["rainbow 4000/2000", "cifar10 400/200", *MIDDLE[1:], "rainbow 50/30"]),
        ("s_pl", [*MIDDLE, "cifar10 4000/2000"]),
    ],
)
def test_the_published_table(name, tasks):
    assert table(name, scale="paper") == tasks
    assert [task.split()[0] for task in table(name)] == [task.split()[0] for task in tasks]


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
def test_labels_follow_the_seed_and_return_with_their_dataset(seed):
    for name in SHORT:
        places = realise(name, seed)
        assert all(len(set(place.classes)) == 10 for place in places)
        by_dataset = {place.domain: place.classes for place in places if not place.shifted}
        assert all(by_dataset[p.domain] == p.classes for p in places if not p.shifted)
        dtd = next(place for place in places if place.domain == "dtd")
        assert all(0 <= label < 47 for label in dtd.classes)
    first, last = realise("s_out", seed)[0], realise("s_out", seed)[5]
    for label, kind in enumerate(first.classes):
        assert last.classes.index(kind) == (label + 1) % 10
    first, last = realise("s_in", seed)[0], realise("s_in", seed)[5]
    assert {first.colour, last.colour} < {"red", "green", "blue"}
    assert first.colour != last.colour


def test_seeds_differ():
    for name in STREAMS:
        assert len({str(realise(name, seed)) for seed in range(20)}) == 20
    orders = {place.classes for seed in range(20) for place in realise("s_minus", seed)[:1]}
    assert len(orders) == 20
    colours = {tuple(p.colour for p in realise("s_in", seed)) for seed in range(60)}
    assert len(colours) == 6


def test_s_long_draws_datasets_classes_and_sizes_as_the_protocol_says():
    places = [realise("s_long", seed) for seed in range(200)]
    assert {len(stream) for stream in places} == {100}
    flat = [place for stream in places for place in stream]
    for dataset in LONG_DATASETS:
        share = sum(place.domain == dataset for place in flat) / len(flat)
        assert share == pytest.approx(1 / 5, abs=0.01)
    assert "dtd" not in {place.domain for place in flat}
    assert all(len(set(place.classes)) == 5 for place in flat)
    assert {c for p in flat if p.domain == "cifar100" for c in p.classes} == set(range(100))
    for start, stop, share in ((0, 33, 1 / 2), (33, 66, 1 / 4), (66, 100, 0)):
        sizes = [place.size for stream in places for place in stream[start:stop]]
        assert set(sizes) <= {"long", "few"}
        assert sizes.count("long") / len(sizes) == pytest.approx(share, abs=0.02)


def test_s_long_at_the_papers_sizes_with_cifar100_capped():
    sizes = {
        (row["domain"] == "cifar100", row["points"], row["validation"], row["classes"])
        for row in sequence("s_long", scale="paper").describe()
    }
    assert sizes == {
        (False, 5000, 2500, 5), (False, 25, 15, 5), (True, 2250, 250, 5), (True, 25, 15, 5)
    }  # fmt: skip


def test_a_task_has_its_classes_evenly_and_its_labels_in_their_order(loads: Loads):
    made = sequence("s_out", scale=tiny())
    domain = loads("cifar10", "")
    for index, count in ((0, 4), (5, 3)):
        problem, order = made.problem(index), made.places[index].classes
        assert np.bincount(problem.train.labels).tolist() == [count] * 10
        assert problem.train.images.shape == (10 * count, 32, 32, 3)
        assert problem.train.images.dtype == np.uint8
        assert problem.train.index.tolist() == [[i] for i in range(10 * count)]
        known = {
            image.tobytes(): label
            for image, label in zip(domain.train_images, domain.train_labels, strict=True)
        }
        for image, label in zip(problem.train.images, problem.train.labels, strict=True):
            assert order[label] == known[image.tobytes()]
    pixels = made.problem(0).train.pixels()
    assert 0 <= pixels.min() < pixels.max() <= 1
    assert len(set(made.problem(0).train.labels[:10])) > 3, "classes are mixed"


def test_s_out_shows_s_minus_images_with_other_labels(loads: Loads):
    minus, out = (sequence(name, scale=tiny()) for name in ("s_minus", "s_out"))
    for split in ("train", "validation"):
        a, b = (getattr(made.problem(5), split) for made in (minus, out))
        images = {image.tobytes(): label for image, label in zip(a.images, a.labels, strict=True)}
        for image, label in zip(b.images, b.labels, strict=True):
            assert label == (images[image.tobytes()] + 1) % 10


def test_rainbow_tasks_are_digits_on_a_colour(loads: Loads):
    made = sequence("s_in", scale=tiny())
    plain = {image.tobytes() for image in loads("mnist", "").train_images}
    for index in (0, 5):
        colour, train = made.places[index].colour, made.problem(index).train
        channel = ("red", "green", "blue").index(colour)
        assert (train.images[..., channel] == train.images.max((1, 2, 3))[:, None, None]).all()
        assert not plain & {image.tobytes() for image in train.images}
    test = made.test(5)
    grey = [loads("mnist", "").test_images]
    coloured = {image.tobytes() for image in rainbow(np.concatenate(grey), made.places[5].colour)}
    assert {image.tobytes() for image in test.images} <= coloured


def test_test_sets_have_all_there_are_at_most_a_thousand(loads: Loads):
    assert len(sequence("s_pl", scale="paper").test(0)) == 10 * 9, "nine of each class are here"
    assert len(sequence("s_pl", scale=tiny()).test(0)) == 10 * 3
    assert sequence("s_pl", scale="paper").per_class(realise("s_pl", 0)[4])["test"] == 300
    rows = sequence("s_pl", scale="paper", data="images").describe()
    assert rows[4]["test"] == "≤ 10000"


def test_no_image_is_in_two_of_train_validation_and_test(loads: Loads):
    made = sequence("s_minus", scale=tiny())
    splits = (made.problem(0).train, made.problem(0).validation, made.test(0))
    sets = [{image.tobytes() for image in split.images} for split in splits]
    assert sum(map(len, sets)) == len(set.union(*sets)) == sum(map(len, splits))


def test_a_task_needs_none_of_those_before_it(loads: Loads):
    alone = sequence("s_long", scale=tiny())
    problem = alone.problem(99)
    assert loads == [alone.places[99].domain]
    after = sequence("s_long", scale=tiny())
    for index in range(0, 99, 9):
        after.problem(index)
    assert after.problem(99).fingerprint == problem.fingerprint
    assert set(vars(after)) <= {
        "name", "seed", "scale", "protocol", "data", "network", "places", "_loaded"
    }, "no task is kept"  # fmt: skip
    assert len(loads) <= 1 + len(LONG_DATASETS), "a dataset is loaded once"


def test_streams_of_one_seed_share_tasks_and_so_evaluations(loads: Loads):
    prints = {
        name: [sequence(name, scale=tiny()).problem(i).fingerprint for i in range(5)]
        for name in SHORT
    }
    assert prints["s_minus"] == prints["s_out"]
    assert prints["s_minus"][1:] == prints["s_plus"][1:] == prints["s_pl"][:4]
    assert prints["s_minus"][0] == prints["s_pl"][4]
    assert prints["s_plus"][0] == prints["s_in"][1]
    last = {name: sequence(name, scale=tiny()).problem(5).fingerprint for name in SHORT[:4]}
    assert len({*last.values(), *prints["s_minus"], *prints["s_plus"]}) == 4 + 6
    assert sequence("s_minus", 1, tiny()).problem(1).fingerprint not in prints["s_minus"]


@pytest.mark.parametrize(
    ("name", "index", "seed", "problem", "test"),
    [
        ("s_minus", 0, 0, "022a8a4b42b7c622", "78bc059ae39c37df"),
        ("s_out", 5, 0, "38de47b16e806b26", "d8eb16ba9fa0fb27"),
        ("s_in", 5, 1, "1011b1c1956243a6", "c1c8daa7940b95af"),
        ("s_pl", 1, 2, "0ef6ac04cf4730ba", "37b4b9c21f45e4af"),
        ("s_long", 42, 0, "4ba99909d5fb2c12", "b0c158cdbf74eaed"),
    ],
)
def test_fingerprints_are_the_same_everywhere(loads: Loads, name, index, seed, problem, test):
    """On made-up images. If these must change, so must the suite's version."""
    made = sequence(name, seed, tiny())
    assert made.problem(index).fingerprint.startswith(problem)
    assert made.test(index).fingerprint.startswith(test)


def test_both_setups_have_the_same_tasks(loads: Loads):
    for index in (0, 5):
        assert (
            sequence("s_in", scale=tiny()).problem(index).fingerprint
            == sequence("s_in", scale=tiny(), resnet=True).problem(index).fingerprint
        )


def test_too_few_images_are_told(loads: Loads):
    with pytest.raises(BellBenchError, match=r"40 train images of class \d, but the dataset mnist"):
        sequence("s_pl", scale="quick").problem(0)


def test_missing_images_are_told_by_dataset(monkeypatch):
    from bell_bench.suites import images

    monkeypatch.setattr(
        images, "missing", lambda names, *how: {"dtd": "get it"} if "dtd" in names else {}
    )
    assert sequence("s_pl", data="images").missing() == {"dtd": "get it"}
    assert sequence("s_long").missing() == {}


def test_an_import_of_too_few_classes_is_told_before_a_run(monkeypatch):
    from bell_bench.suites import images
    from bell_bench.suites.ctrl import suite

    monkeypatch.setattr(images, "missing", lambda names, *how: {})
    monkeypatch.setattr(suite, "imported_classes", lambda name: 10)
    (why,) = sequence("s_pl", data="images").missing().items()
    assert why[0] == "dtd"
    assert "have 10 classes, and streams draw from 47" in why[1]
    assert sequence("s_in").domains == ("mnist", "cifar10", "dtd", "fashion_mnist", "svhn")


def test_describe_names_what_is_shared():
    rows = sequence("s_in").describe()
    assert rows[5]["shares"] == ["digits and labels of 1"]
    assert rows[1]["shares"] == []
    assert sequence("s_out").describe()[5]["shares"] == ["dataset of 1"]
    assert sequence("s_minus").describe()[5]["shares"] == ["dataset and labels of 1"]
    assert {row["classes"] for row in sequence("s_long").describe()} == {5}


def test_realisations_have_seeds_of_our_own():
    assert [CTRL.realisation_seed("s_in", k) for k in range(4)] == [0, 1, 2, 3]
    with pytest.raises(UsageError, match="count from 0"):
        CTRL.realisation_seed("s_in", -1)
    with pytest.raises(UsageError, match="did you mean s_in"):
        CTRL.realisation_seed("s_inn", 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "s_minnus"}, "did you mean s_minus"),
        ({"scale": "quik"}, "did you mean quick"),
        ({"protocol": "papers"}, "did you mean paper"),
        ({"data": "glyph"}, "did you mean glyphs"),
    ],
)
def test_mistyped_names_suggest_the_nearest(change, words):
    asked = {"name": "s_in", "scale": "quick", "protocol": "paper", "data": "glyphs", **change}
    with pytest.raises(UsageError, match=words):
        CTRL_RESNET.sequence(asked.pop("name"), seed=1, **asked)


def test_the_suite_imports_no_torch():
    code = "import sys, bell_bench.suites.ctrl.suite; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_a_picture_is_drawn(loads: Loads, tmp_path: pathlib.Path):
    pictures = set()
    for name in ("s_in", "s_long"):
        sequence(name, scale=tiny()).picture(tmp_path / "stream.png")
        content = (tmp_path / "stream.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        pictures.add(hashlib.sha256(content).hexdigest())
    assert len(pictures) == 2
