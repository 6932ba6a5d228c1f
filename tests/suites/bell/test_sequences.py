"""Sequences, realisations and problems."""

from __future__ import annotations

import collections
import dataclasses
import pathlib

import numpy as np
import pytest

from bell_bench.errors import UsageError
from bell_bench.modular.architecture import Architecture
from bell_bench.options import show_value
from bell_bench.suites.bell.labellings import labellings
from bell_bench.suites.bell.patterns import PATTERNS, realise
from bell_bench.suites.bell.protocol import PROTOCOLS, BellProtocol
from bell_bench.suites.bell.suite import BELL


def sequence(name: str, realisation: int = 0, **settings: str):
    chosen = {"scale": "quick", "protocol": "paper", "data": "glyphs", **settings}
    return BELL.sequence(name, seed=BELL.realisation_seed(name, realisation), **chosen)


def names(name: str, seed: int, protocol: str = "paper") -> list[str]:
    return [place.name for place in realise(name, seed, PROTOCOLS[protocol])]


def test_the_published_realisation_that_the_protocol_spells_out():
    assert names("S_minus", 25) == [
        "emnist_1/XOR perm1",
        "mnist_1/Square perm1",
        "fmnist_1/Square identity",
        "k49_1/Circle identity",
        "k49_2/XOR identity",
        "emnist_1/XOR perm1",
    ]


STRUCTURES = {
    "S_pl": "aa bb cc dd ee ff",
    "S_minus": "aa bb cc dd ee aa",
    "S_plus": "aa bb cc dd ee aa",
    "S_out": "aa bb cc dd ee af",
    "S_out_star": "aa ab bc cd de af",
    "S_out_star_star": "aa ab bc cd de aa",
    "S_in": "aa bb cc dd ee fa",
    "S_sp": "aa bb cc dd ee fa",
    "S_few": "a. b. ca ab dc bb",
    "S_in_plus": "aa bb cc dd ee af bg ch di ej ak bl cm dn eo fa",
}


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_sequence_repeats_what_its_pattern_says(name, protocol):
    """The structure by first occurrence: (domain, labelling) as small letters."""
    for seed in (*PATTERNS[name].seeds, 12345):
        places = realise(name, seed, PROTOCOLS[protocol])
        domains = {d: chr(97 + i) for i, d in enumerate(dict.fromkeys(p.domain for p in places))}
        uppers = dict.fromkeys(p.labelling for p in places if p.labelling)
        letters = {None: ".", **{g: chr(97 + i) for i, g in enumerate(uppers)}}
        found = " ".join(domains[p.domain] + letters[p.labelling] for p in places)
        assert found == STRUCTURES[name]


def test_s_long_alone_has_no_structure_and_draws_all_alike():
    assert set(PATTERNS) - set(STRUCTURES) == {"S_long"}
    for protocol in PROTOCOLS.values():
        places = [place for seed in range(200) for place in realise("S_long", seed, protocol)]
        for drawn, count in ([p.domain for p in places], 9), ([p.labelling for p in places], 16):
            shares = np.array(list(collections.Counter(drawn).values())) / len(places)
            np.testing.assert_allclose(shares, np.full(count, 1 / count), rtol=0.15)
        assert {place.space for place in places} == {"image"}


@pytest.mark.parametrize(
    ("name", "protocol", "kinds"),
    [
        ("S_pl", "paper", "plus plus plus plus plus plus"),
        ("S_minus", "paper", "plus minus minus minus minus minus"),
        ("S_plus", "paper", "minus minus minus minus minus plus"),
        ("S_out_star", "paper", "minus plus minus minus minus minus"),
        ("S_in", "paper", "plus latent latent latent latent latent"),
        ("S_in", "authors-code", "plus plus plus plus plus latent"),
        ("S_sp", "paper", "plus latent latent latent latent latent"),
        ("S_sp", "authors-code", "plus plus plus plus plus latent"),
        ("S_out", "paper", "plus minus minus minus minus minus"),
        ("S_out_star_star", "paper", "minus plus minus minus minus minus"),
        ("S_few", "paper", "plus plus minus minus minus few"),
    ],
)
def test_sizes(name, protocol, kinds):
    places = realise(name, PATTERNS[name].seeds[0], PROTOCOLS[protocol])
    assert [place.kind for place in places] == kinds.split()


def test_s_in_plus_has_fifteen_labellings_and_returns_to_the_first():
    places = realise("S_in_plus", 70, PROTOCOLS["paper"])
    assert len({place.labelling for place in places[:15]}) == 15
    assert {place.kind for place in places[:15]} == {"plus"}
    last = places[15]
    assert last.labelling == places[0].labelling
    assert last.kind == "latent"
    assert last.domain not in {place.domain for place in places[:15]}


def test_s_long_draws_sizes_as_often_as_the_protocol_says():
    kinds = [p.kind for seed in range(300) for p in realise("S_long", seed, PROTOCOLS["paper"])]
    early = [k for i, k in enumerate(kinds) if i % 60 < 50]
    late = [k for i, k in enumerate(kinds) if i % 60 >= 50]
    assert len(kinds) == 300 * 60
    assert kinds.count("few") / len(kinds) == pytest.approx(1 / 10, abs=0.01)
    assert early.count("plus") / len(early) == pytest.approx(1 / 3, abs=0.02)
    assert late.count("plus") == 0
    assert kinds.count("minus") / kinds.count("latent") == pytest.approx(1, abs=0.1)
    assert len(realise("S_long", 60, PROTOCOLS["authors-code"])) == 100


def test_sixteen_labellings_of_32_positives_in_sampling_order():
    for own_maps in (False, True):
        uppers = labellings(own_maps)
        assert [g.name for g in uppers[:5]] == [
            "XOR identity", "XOR perm1", "XOR perm2", "XOR perm3", "Circle identity"
        ]  # fmt: skip
        assert len(set(uppers)) == 16
        assert all(g.grid.sum() == 32 and sorted(g.digits) == list("12345678") for g in uppers)


def test_patterns_are_what_their_names_say():
    rows, columns = np.indices((8, 8))
    edge = np.isin(rows, (0, 7)) | np.isin(columns, (0, 7))
    expected = {
        "XOR": (rows < 4) ^ (columns < 4),
        "Circle": (rows - 3.5) ** 2 + (columns - 3.5) ** 2 < 12,
        "Square": edge | (np.isin(rows, (3, 4)) & np.isin(columns, (3, 4))),
    }
    grids = {upper.pattern: upper.grid for upper in labellings(own_maps=False)}
    for name, grid in expected.items():
        np.testing.assert_array_equal(grids[name], grid, err_msg=name)
    np.testing.assert_array_equal(grids["X"][:, ::-1], grids["X"], err_msg="X is symmetric")
    assert grids["X"].sum(axis=1).tolist() == [4, 6, 4, 2, 4, 6, 4, 2], "its rows in the protocol"


def test_maps_are_those_of_the_protocol():
    """Shared by all patterns in the paper, of each pattern's own in the authors' code."""
    shared, own = (
        [upper.digits for upper in labellings(own_maps) if upper.map != "identity"]
        for own_maps in (False, True)
    )
    assert " ".join(shared[:3]) == "47126358 32685741 21364578"
    assert shared == 4 * shared[:3]
    assert " ".join(own) == (
        "47126358 32685741 21364578 42175638 41782635 13487652 "
        "83627514 52183746 42156387 25784613 63428571 25471683"
    )


def test_a_labelling_maps_class_c_to_the_cth_digit():
    upper = labellings(own_maps=False)[1]
    assert upper.digits == "47126358"
    assert upper.class_at[4 - 1] == 0, "class 0 stands at coordinate 4"
    assert upper.class_at[8 - 1] == 7


def test_paper_triples():
    paper = sequence("S_few", scale="paper")
    train = [paper.triples(place)["train"] for place in paper.places]
    assert [(t.points, t.images, t.coordinates) for t in train] == [
        (30000, None, None), (30000, None, None), (10000, 100, None), (10000, 100, None),
        (10000, 100, None), (10, 20, 10),
    ]  # fmt: skip
    assert paper.triples(paper.places[5])["validation"].points == 10
    assert paper.triples(paper.places[0])["validation"].points == 5000
    assert {paper.triples(place)["test"].points for place in paper.places} == {5000}
    code = sequence("S_few", scale="paper", protocol="authors-code")
    assert code.triples(code.places[2])["train"].images == 96
    few = code.triples(code.places[5])["train"]
    assert (few.points, few.images, few.coordinates) == (10, None, None)
    assert code.triples(code.places[5])["validation"].points == 5000
    coded = sequence("S_in", scale="paper", protocol="authors-code")
    last = coded.triples(coded.places[5])["train"]
    assert (last.points, last.images, last.coordinates, last.first) == (10000, None, 15, True)
    latent = sequence("S_in", scale="paper")
    last = latent.triples(latent.places[5])["train"]
    assert (last.points, last.images, last.coordinates, last.first) == (10000, None, 30, True)


@pytest.mark.parametrize(
    ("protocol", "rate", "decay", "select"),
    [("paper", 0.00016, 0.97, "accuracy"),
     ("authors-code", 0.00015632046, 0.9749541784205452, "loss")],
)  # fmt: skip
def test_paper_training(protocol, rate, decay, select):
    found = sequence("S_pl", scale="paper", protocol=protocol).settings
    assert (found.optimiser, found.learning_rate, found.weight_decay) == ("adamw", rate, decay)
    assert (found.batch, found.max_epochs, found.max_updates) == (32, 1200, None)
    assert (found.patience, found.patience_epochs) == (6000, 0)
    assert found.validate_every is None, "at the start and after every epoch"
    assert found.select == select


def count_parameters(architecture: Architecture) -> list[int]:
    counts = []
    for spec in architecture.modules:
        channels = spec.source.shape[-1] if len(spec.source.shape) == 3 else 1
        size = int(np.prod(spec.source.shape))
        fan_in = 25 * channels if spec.kind == "conv" else spec.join * size
        counts.append((fan_in + 1) * spec.target.shape[-1])
    return counts


def test_the_published_parameter_counts():
    paper = sequence("S_sp", scale="paper")
    counts = count_parameters(paper.architecture(paper.places[0]))
    assert counts == [1664, 102464, 65600, 4160, 520, 1088, 4160, 65]
    assert sum(counts) == 179_721
    assert len(paper.architecture(paper.places[5])) == 5
    code = sequence("S_sp", scale="paper", protocol="authors-code")
    assert len(code.architecture(code.places[5])) == 7


def test_only_the_upper_modules_of_s_sp_fit_the_other_problems():
    quick = sequence("S_sp")
    images = quick.architecture(quick.places[0]).modules
    vectors = quick.architecture(quick.places[5]).modules
    assert [spec in images for spec in vectors] == [False, False, True, True, True]


def test_s_few_begins_with_single_images_of_eight_classes():
    problem = sequence("S_few").problem(0)
    assert (problem.classes, problem.train.arity, len(problem.architecture)) == (8, 1, 5)
    last = sequence("S_few").problem(5)
    assert (last.classes, len(last.train), len(last.validation)) == (2, 10, 10)
    assert len(last.train.images) == 20


def test_s_sp_ends_with_vectors():
    problem = sequence("S_sp").problem(5)
    assert problem.train.images.shape[1:] == (784,)


def test_a_problem_does_not_depend_on_those_made_before_it():
    alone = sequence("S_out").problem(5).fingerprint
    after = sequence("S_out")
    for index in range(5):
        after.problem(index)
    assert after.problem(5).fingerprint == alone


@pytest.mark.parametrize(
    ("name", "index", "protocol", "problem", "test"),
    [
        ("S_few", 0, "paper", "b4b27d490f03bf4b", "d64e57373f75bdde"),
        ("S_few", 2, "paper", "7277456ff2df1d5f", "aa49c81c1e22ad2b"),
        ("S_few", 5, "paper", "f8ac3e008ee2a222", "d639d55247284336"),
        ("S_sp", 5, "paper", "5445e66b867c870a", "26569b59b3e4515e"),
        ("S_in", 5, "authors-code", "94e7b394f9f7a0c9", "f8aa21d7f4a33f73"),
        ("S_pl", 0, "paper", "094b83746578ae04", "1469ea3178247b83"),
    ],
)
def test_fingerprints_are_the_same_everywhere(name, index, protocol, problem, test):
    """If these must change, so must the suite's version (and glyphs.VERSION, if images did)."""
    made = sequence(name, protocol=protocol)
    assert made.problem(index).fingerprint.startswith(problem)
    assert made.test(index).fingerprint.startswith(test)


def test_fingerprints_tell_problems_apart():
    found = [sequence("S_minus").problem(index).fingerprint for index in (0, 5)]
    assert len(set(found)) == 2, "the last problem repeats the first, with other data"
    assert sequence("S_minus", 1).problem(0).fingerprint not in found


def test_s_in_and_s_sp_share_their_first_five_problems():
    """So that their evaluations are shared, too."""
    for index in range(5):
        first = sequence("S_in").problem(index).fingerprint
        assert first == sequence("S_sp").problem(index).fingerprint


def test_no_image_is_in_two_of_train_validation_and_test():
    quick = sequence("S_pl")
    problem, test = quick.problem(0), quick.test(0)
    sets = [
        {image.tobytes() for image in split.images}
        for split in (problem.train, problem.validation, test)
    ]
    assert sum(map(len, sets)) == len(set.union(*sets))


def test_describe_names_what_is_shared():
    rows = sequence("S_few").describe()
    assert rows[5]["shares"] == ["domain of 2", "labelling of 4"]
    assert rows[3]["shares"] == ["domain of 1"]
    assert rows[0]["coordinates"] is None
    assert {"domain", "pattern", "map", "kind", "points", "images", "coordinates"} <= rows[0].keys()


@pytest.mark.slow
def test_a_picture_greys_the_coordinates_that_training_lacks(tmp_path, monkeypatch):
    """Of latent problems the last 34, of a few-shot one all but its ten; a vector is told."""
    drawn = []
    axes = {"imshow": lambda _, cells, **__: drawn.append(np.asarray(cells)),
            "set_ylabel": lambda _, text, **__: drawn.append(text)}  # fmt: skip
    for name, record in axes.items():
        monkeypatch.setattr(f"matplotlib.axes.Axes.{name}", record)
    sequence("S_sp").picture(tmp_path / "sp.png")
    sequence("S_few").picture(tmp_path / "few.png")
    grids = [each for each in drawn if not isinstance(each, str) and each.shape == (8, 8)]
    unseen = [np.flatnonzero(grid == 2).tolist() for grid in grids]
    assert unseen[:6] == [[], *[list(range(30, 64))] * 5]
    assert [len(each) for each in unseen[6:]] == [0, 0, 0, 54]
    assert [text.split("\n")[-1] for text in drawn if "784" in str(text)] == ["as 784 numbers"]


def test_realisations_beyond_the_published_have_seeds_of_their_own():
    seeds = [BELL.realisation_seed("S_in", k) for k in range(5)]
    assert seeds == [55, 56, 54, 1003, 1004]
    with pytest.raises(UsageError, match="count from 0"):
        BELL.realisation_seed("S_in", -1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "S_feww"}, "did you mean S_few"),
        ({"scale": "quik"}, "did you mean quick"),
        ({"protocol": "papers"}, "did you mean paper"),
        ({"data": "glyph"}, "did you mean glyphs"),
    ],
)
def test_mistyped_names_suggest_the_nearest(change, words):
    asked = {"name": "S_few", "scale": "quick", "protocol": "paper", "data": "glyphs", **change}
    with pytest.raises(UsageError, match=words):
        BELL.sequence(asked.pop("name"), seed=1, **asked)


def test_every_field_of_the_protocol_is_explained_and_differs():
    paper, code = PROTOCOLS["paper"], PROTOCOLS["authors-code"]
    for field in dataclasses.fields(paper):
        if field.name not in ("name", "summary"):
            assert field.metadata["help"]
            assert getattr(paper, field.name) != getattr(code, field.name)


def test_the_docs_show_every_row_of_the_protocol():
    page = (pathlib.Path(__file__).parents[3] / "docs" / "bell.md").read_text()
    for field in dataclasses.fields(BellProtocol):
        if field.name not in ("name", "summary"):
            values = [getattr(PROTOCOLS[name], field.name) for name in ("paper", "authors-code")]
            paper, code = (show_value(value) for value in values)
            assert f"| `{field.name}` | {field.metadata['help']} | {paper} | {code} |" in page
