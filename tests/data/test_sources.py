"""Sources of images that plugins provide: their domains, what they draw, and what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from bell_bench import plugins
from bell_bench.data import DomainSizes, load_domain, sources
from bell_bench.data.domain import SourceDomain
from bell_bench.data.status import missing, statuses
from bell_bench.descriptions.details import domain_names
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.harness.plan import Request, make_plan, sequence_of
from bell_bench.harness.worker import check_images
from bell_bench.specs import SourceSpec
from bell_bench_submissions.truth import Truths, Uncheckable

GREY, COLOUR = (28, 28), (32, 32, 3)
SIZES = DomainSizes(train=2000, validation=400, test=200)


class Noise:
    """Domains of noise, each image with its label in a corner."""

    def __init__(self):
        grey = [SourceDomain(f"grey_{i}", GREY, 8, SIZES) for i in range(7)]
        classes = (12, 30, 10, 10, 20, 11)
        colour = [SourceDomain(f"c_{i}", COLOUR, n, SIZES) for i, n in enumerate(classes)]
        self.domains = [*grey, *colour]
        self.drawn = 0

    def draw(self, name, split, count):
        self.drawn += 1
        domain = next(each for each in self.domains if each.name == name)
        images = np.random.RandomState(len(split)).randint(0, 256, (count, *domain.shape))
        labels = np.arange(count) % domain.classes
        images.reshape(count, -1)[:, 0] = labels
        return images.astype(np.uint8), labels


SPEC = SourceSpec("noise", f"{__name__}:SOURCE", "noise", shapes=(GREY, COLOUR), licence="CC0")


@pytest.fixture
def source(monkeypatch):
    """The source, provided by another distribution."""
    made = Noise()
    monkeypatch.setitem(globals(), "SOURCE", made)
    provide(monkeypatch, plugins.Provided(SPEC, "noisy", "dist-noise", "1.0"))
    return made


def provide(monkeypatch, *provided):
    registry = plugins.registry()
    ours = [each for each in registry.every(SourceSpec) if each.ours]
    monkeypatch.setitem(registry._provided, SourceSpec, [*ours, *provided])


def planned(suite, sequence, **wish):
    return make_plan(Request(("sa",), suite, (sequence,), data="noise", **wish)).jobs[0]


def test_a_domain_is_drawn_once_and_told(source):
    domain = load_domain("grey_3", "noise", DomainSizes(160, 80, None))
    assert domain.train_images.shape == (160, *GREY)
    assert len(domain.test_labels) == 200
    np.testing.assert_array_equal(domain.train_images[:, 0, 0], domain.train_labels)
    assert source.drawn == 3
    assert load_domain("grey_3", "noise", DomainSizes(160, 80, 9999)).classes == 8
    assert source.drawn == 3
    assert missing(["grey_3"], "noise") == {}
    row = next(row for row in statuses("noise") if row.name == "c_2")
    assert (row.status, row.licence) == ("present", "CC0")
    assert row.detail == "drawn by dist-noise when first used"
    with pytest.raises(UsageError, match="did you mean grey_"):
        load_domain("gray_3", "noise")


def test_every_sequence_of_bell_and_ctrl_draws_its_domains(source):
    for name in ("bell", "ctrl", "ctrl-resnet"):
        suite = plugins.registry().suite(name)
        assert list(suite.sources) == ["glyphs", "images", "noise"]
        for sequence in suite.sequences:
            found = suite.sequence(sequence, seed=3, scale="quick", protocol="paper", data="noise")
            assert {each.split("_")[0] for each in found.domains} == {
                "grey" if name == "bell" else "c"
            }
            assert found.missing() == {}
            assert len(found.describe()) == len(found)
    assert source.drawn == 0, "no image is needed to tell of them"


def test_a_domain_of_ctrl_takes_a_datasets_place(source):
    sequence = sequence_of(planned("ctrl", "s_in"))
    assert [place.domain for place in sequence.places] == ["c_4", "c_0", "c_3", "c_5", "c_2", "c_4"]
    assert sequence.places[0].name.startswith("rainbow_c_4/")
    assert max(sequence.places[3].classes) < 11
    row = sequence.describe()[1]
    assert (row["points"], row["validation"], row["test"]) == (400, 200, 160)
    problem, test = sequence.problem(1), sequence.test(1)
    assert len(problem.train) == 400
    assert len(test) == 10 * (200 // 12)
    order = np.array(sequence.places[1].classes)
    np.testing.assert_array_equal(test.images[:, 0, 0, 0], order[test.labels])


def test_a_job_names_what_drew_its_images(source, monkeypatch):
    job = planned("bell", "S_few")
    assert tuple(job.imported) == sequence_of(job).domains
    assert job.images == "noise"
    check_images(job)
    provide(monkeypatch, plugins.Provided(SPEC, "noisy", "dist-noise", "1.1"))
    other = planned("bell", "S_few")
    assert other.key != job.key
    assert structs.replace(other, imported=job.imported) == job
    with pytest.raises(BellBenchError, match=r"images of noise are not those .* of its plugin"):
        check_images(job)
    with pytest.raises(Uncheckable, match="of another version of the plugin"):
        Truths().of(job)
    source.domains = [replace(each, version="2") for each in source.domains]
    assert planned("bell", "S_few").key not in (job.key, other.key)


def test_ours_keeps_its_name_and_others_are_told_apart(source, monkeypatch):
    glyphs = replace(SPEC, name="glyphs")
    two = [plugins.Provided(SPEC, "noisy", f"dist-{which}", "1") for which in "ab"]
    provide(monkeypatch, plugins.Provided(glyphs, "noisy", "dist-noise", "1"), *two)
    found = ["glyphs", "images", "dist-noise:glyphs", "dist-a:noise", "dist-b:noise"]
    assert list(sources()) == found
    assert load_domain("grey_1", "dist-b:noise", DomainSizes(8, 8, 8)).classes == 8
    with pytest.raises(UsageError, match="unknown data source 'noise'"):
        load_domain("grey_1", "noise")


def test_a_source_with_too_few_domains_or_classes_is_told(source):
    every = source.domains
    source.domains = every[2:6]
    with pytest.raises(UsageError, match="6 domains are needed, and the data source has 4: grey_2"):
        planned("bell", "S_pl")
    assert planned("bell", "S_few")
    with pytest.raises(UsageError, match="6 domains are needed, and the data source has 0: none"):
        planned("ctrl", "s_pl")
    source.domains = [*every[:6], replace(every[6], classes=9)]
    with pytest.raises(UsageError, match=r"grey_6 of .*dist-noise 1.0 has 9 classes; .* needs 8"):
        planned("bell", "S_few")
    source.domains = [replace(each, classes=3) for each in every]
    with pytest.raises(UsageError, match="has 3 classes; this suite needs 10 to 100"):
        planned("ctrl", "s_pl")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda images, labels: (images / 255, labels), "gave float64"),
        (lambda images, labels: (images[1:], labels), r"\(7, 28, 28\) as 8 train images"),
        (lambda images, labels: (images, labels + 1), "whole numbers below 8 are needed"),
        (lambda images, labels: 1 / 0, "failed to draw grey_0: ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_images_is_told(source, monkeypatch, change, complaint):
    draw = source.draw
    monkeypatch.setattr(source, "draw", lambda *how: change(*draw(*how)))
    with pytest.raises(BellBenchError, match=f"data source 'noise' of dist-noise.*{complaint}"):
        load_domain("grey_0", "noise", DomainSizes(8, 8, 8))


def test_a_broken_source_costs_itself_alone(source):
    source.domains = [replace(source.domains[0], sizes=DomainSizes(train=8))]
    with pytest.raises(BellBenchError, match="must be a SourceDomain that tells all sizes"):
        load_domain("grey_0", "noise")
    assert "mnist_1" in domain_names()
    source.domains = None
    with pytest.raises(BellBenchError, match=r"data source 'noise' of dist-noise 1.0 failed"):
        planned("bell", "S_few")
    assert "mnist_1" in domain_names()
    with pytest.raises(ValueError, match="the shapes of noise are"):
        replace(SPEC, shapes=())
