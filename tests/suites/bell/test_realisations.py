"""Realisations, against a sampler written from the protocol's text alone."""

from __future__ import annotations

import random

import pytest

from bell_bench.suites.bell.labellings import labellings
from bell_bench.suites.bell.patterns import PATTERNS, realise
from bell_bench.suites.bell.protocol import PROTOCOLS
from bell_bench.suites.bell.suite import BELL

DOMAINS = ["mnist_1", "fmnist_1", "k49_1", "k49_2", "k49_3", "k49_4", "emnist_1", "emnist_2",
           "emnist_3"]  # fmt: skip
UPPERS = [f"{pattern} {map}" for pattern in ("XOR", "Circle", "X", "Square")
          for map in ("identity", "perm1", "perm2", "perm3")]  # fmt: skip
KINDS = {"+": "plus", "-": "minus", "l": "latent", "f": "few"}
TABLE = {
    "S_pl": ((30, 31, 32), 6, 6, "11 22 33 44 55 66", "++++++"),
    "S_minus": ((25, 26, 27), 5, 5, "11 22 33 44 55 11", "+-----"),
    "S_plus": ((35, 36, 37), 5, 5, "11 22 33 44 55 11", "-----+"),
    "S_out": ((40, 41, 42), 5, 6, "11 22 33 44 55 16", "+-----"),
    "S_out_star": ((45, 46, 47), 4, 6, "11 12 23 34 45 16", "-+----"),
    "S_out_star_star": ((20, 21, 22), 4, 5, "11 12 23 34 45 11", "-+----"),
    "S_in": ((55, 56, 54), 6, 5, "11 22 33 44 55 61", "+lllll"),
    "S_sp": ((55, 56, 54), 6, 5, "11 22 33 44 55 61", "+lllll"),
    "S_few": ((50, 51, 52), 4, 3, "10 20 31 12 43 22", "++---f"),
}
"""Seeds, domains and labellings drawn, (d, g) of each problem (0: d alone), sizes under `paper`."""
CODE = {"S_in": "+++++l", "S_sp": "+++++l"}
"""Sizes under `authors-code`, where they differ."""
OWN_SEEDS = {"S_long": (60, 61, 62), "S_in_plus": (70, 71, 72, 73, 74)}


def sampled(name: str, seed: int, protocol: str) -> list[tuple[str, str | None, str]]:
    """(domain, labelling, kind) of each problem."""
    _, domains, uppers, places, kinds = TABLE[name]
    drawing = random.Random(seed)
    d = drawing.sample(DOMAINS, domains)
    g = [None, *drawing.sample(UPPERS, uppers)]
    if protocol == "authors-code":
        kinds = CODE.get(name, kinds)
    return [
        (d[int(place[0]) - 1], g[int(place[1])], KINDS[kind])
        for place, kind in zip(places.split(), kinds, strict=True)
    ]


def test_the_seeds_are_the_protocols():
    expected = {**{name: row[0] for name, row in TABLE.items()}, **OWN_SEEDS}
    assert {name: pattern.seeds for name, pattern in PATTERNS.items()} == expected
    for name, seeds in expected.items():
        assert tuple(BELL.realisation_seed(name, k) for k in range(len(seeds))) == seeds


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", TABLE)
def test_realisations_are_those_that_the_text_describes(name, protocol):
    known = {upper.name: upper for upper in labellings(own_maps=protocol == "authors-code")}
    for seed in (*TABLE[name][0], *range(20), 1003, 12345):
        found = realise(name, seed, PROTOCOLS[protocol])
        expected = sampled(name, seed, protocol)
        assert [(p.domain, p.labelling and p.labelling.name, p.kind) for p in found] == expected
        assert [p.labelling for p in found] == [known.get(upper) for _, upper, _ in expected]
        spaces = ["image"] * 5 + ["vector" if name == "S_sp" else "image"]
        assert [p.space for p in found] == spaces


def test_s_long_as_first_drawn():
    """The text leaves the order of draws open; ours must stay, for results to be comparable."""
    found = {
        protocol: [f"{p.name}: {p.kind}" for p in realise("S_long", 60, PROTOCOLS[protocol])]
        for protocol in PROTOCOLS
    }
    assert found["paper"] == found["authors-code"][:60]
    assert found["paper"][:6] == [
        "k49_3/X perm1: latent",
        "k49_2/Square perm3: latent",
        "mnist_1/XOR perm2: minus",
        "k49_1/Square identity: few",
        "emnist_1/Circle perm1: plus",
        "emnist_3/XOR perm1: minus",
    ]
    assert found["authors-code"][-2:] == ["k49_2/XOR perm2: minus", "k49_1/X identity: latent"]
