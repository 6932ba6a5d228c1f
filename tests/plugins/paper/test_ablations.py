from __future__ import annotations

import csv
import dataclasses
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from bell_bench.cli.verbs import run
from bell_bench.data import Domain, DomainSizes
from bell_bench.data.domain import pixel_statistics
from bell_bench.harness.plan import Request, make_plan
from bell_bench.modular.evaluations import EvaluationStore
from bell_bench.suites.bell.scales import SCALES
from bell_bench_algorithms.picle.suffixes import Suffix
from bell_bench_paper.ablations import density, nt_search, plots, tables
from tests.modular.making import SETTINGS, make_problem

TINY = dataclasses.replace(
    SCALES["quick"],
    name="tiny",
    plus_points=64,
    minus_points=64,
    validation_points=64,
    test_points=64,
    domain=DomainSizes(train=120, validation=64, test=64),
    width=2,
    max_updates=4,
    validate_every=2,
)


def silent(what, done, total):
    pass


def make_domain(number, train=300, validation=120):
    """Noise that is stronger in one row of the image, another for each domain."""
    random = np.random.RandomState(number)
    pixels = random.normal(128, 10, (train + validation, 28, 28))
    pixels[:, 3 * number] = random.normal(128, 60, (train + validation, 28))
    images = pixels.clip(0, 255).astype(np.uint8)
    labels = np.arange(len(images)) % 8
    mean, std = pixel_statistics(images[:train])
    one = (images[:1], labels[:1])
    return Domain(
        f"d{number}", images[:train], labels[:train], images[train:], labels[train:], *one,
        mean, std, "",
    )  # fmt: skip


def test_positions_count_the_likelier_gaussians():
    likelihoods = torch.tensor([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [1.0, 2.0, 1.5]])
    assert density.positions(likelihoods).tolist() == [0, 2, 1]


def test_log_likelihoods_are_those_of_gaussians():
    from scipy.stats import multivariate_normal

    random = np.random.RandomState(0)
    means, points = random.randn(3, 4), random.randn(3, 6, 4)
    covariances = np.stack([np.cov(random.randn(4, 9)) for _ in range(3)])
    found = density.log_likelihoods(*map(torch.from_numpy, (means, covariances, points)))
    for j in range(3):
        for i in range(3):
            loaded = covariances[i] + density.RIDGE * np.eye(4)
            expected = multivariate_normal(means[i], loaded).logpdf(points[j]).sum()
            assert float(found[j, i]) == pytest.approx(expected)


def test_moments_of_a_growing_sample_are_exact():
    domain = make_domain(1)
    sample = density.Sample(domain, torch.Generator().manual_seed(3))
    order = torch.randperm(300, generator=torch.Generator().manual_seed(3)).numpy()
    for size in (50, 290):
        moments = sample.moments(size)
        pixels = domain.train_images[order[:size]].reshape(size, -1).astype(float)
        pixels = (pixels - domain.mean) / domain.std
        np.testing.assert_allclose(moments.mean, pixels.mean(0), atol=1e-12)
        np.testing.assert_allclose(moments.covariance, np.cov(pixels.T), atol=1e-12)
    assert sample.fresh.shape == (100, 784)


@pytest.mark.slow
def test_separate_domains_are_told_apart():
    domains = [make_domain(number) for number in range(5)]
    found = {(m, n): position for m, n, position in density.rank(domains, [30, 300], seed=0)}
    assert list(found) == [(m, n) for n in (30, 300) for m in density.METHODS]
    assert found["rp_10", 30] > 0
    assert {found[method, 300] for method in density.METHODS} == {0}
    assert list(density.rank(domains, [30, 300], seed=0)) == [(*k, v) for k, v in found.items()]
    twins = [make_domain(2), make_domain(2)]
    found = {(n, position) for _, n, position in density.rank(twins, [50, 300], seed=1)}
    assert found == {(50, 0.5), (300, 0)}, "of two samples one fits both better; a tie is no defeat"


@pytest.mark.slow
def test_density_goes_as_far_as_the_images_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SCALES, "tiny", TINY)
    file, plot = tmp_path / "new" / "d.csv", tmp_path / "d.svg"
    arguments = ["--scale", "tiny", "--seeds", "2", "--csv", str(file), "--plot", str(plot)]
    assert run(["ablate", "density", *arguments, "--out", str(tmp_path / "no")]) == 0
    with file.open() as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["method", "N", "seed", "average_position"]
    assert {row["N"] for row in rows} == {"50", "100", "120"}
    assert len(rows) == len(density.METHODS) * 3 * 2
    assert "<svg" in plot.read_text()
    out, err = capsys.readouterr()
    assert all(method in out for method in density.METHODS)
    mine = [float(r["average_position"]) for r in rows if (r["method"], r["N"]) == ("rp_20", "120")]
    assert f"{np.mean(mine):.2f} ± {abs(mine[0] - mine[1]) / 2:.2f}" in out
    assert "24/24" in err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["density", "--scale", "quik"], "did you mean quick"),
        (["density", "--data", "glyfs"], "did you mean glyphs"),
        (["density", "--data", "images"], "images are missing"),
        (["density", "--plot", "picture.xyz"], "ends in one of"),
        (["density", "--csv", "/dev/null/x.csv"], "cannot be made"),
        (["density", "--seeds", "0"], "--seeds"),
        (["nt-search", "--scale", "quik"], "did you mean quick"),
        (["nt-search", "--protocol", "papers"], "did you mean paper"),
        (["nt-search", "--data", "images"], "images are missing"),
        (["nt-serch"], "nt-serch"),
    ],
)
def test_wrong_usage(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["ablate", *arguments]) == 2
    assert said in capsys.readouterr().err


def planted(realisation, count=15):
    """Suffixes along a curve; the nearer to one of them, the better."""
    random = np.random.RandomState(realisation)
    places = torch.from_numpy(random.permutation(count) / count)
    distances = (places[:, None] - places).abs()
    best = int(random.randint(count))
    accuracies = (0.95 - 0.4 * distances[best]).tolist()
    alike = torch.exp(-8 * distances**2)
    suffixes = [Suffix((f"{i + 1}.8",), None) for i in range(count)]
    compared = nt_search.SearchComparison(distances, dict.fromkeys(("cov", "pc", "gpd"), alike))
    return nt_search.Recorded(realisation, suffixes, compared, accuracies), best


@pytest.mark.slow
def test_random_search_needs_all_and_bayesian_optimisation_finds_the_best_earlier():
    when = {"RS": [], "BO_l2": [], "BO_l2_r": []}
    needed = {method: [] for method in when}
    for realisation in range(3):
        recorded, best = planted(realisation)
        for method in when:
            for seed in range(1 if method == "BO_l2" else 2):
                order = nt_search.replay(recorded, nt_search.METHODS[method], seed)
                assert len(order) == len(set(order))
                needed[method].append(len(order))
                when[method].append(order.index(best) if best in order else 15)
    assert set(needed["RS"]) == {15}
    for method in ("BO_l2", "BO_l2_r"):
        assert np.mean(when[method]) < np.mean(when["RS"]) - 1
        assert np.mean(needed[method]) < 12


@pytest.mark.slow
def test_seeds_make_the_same_start_for_all_that_begin_at_random():
    recorded, _ = planted(0, count=6)
    starts = {
        (method, seed): tuple(nt_search.replay(recorded, nt_search.METHODS[method], seed)[:2])
        for method in ("RS", "BO_l2_r", "BO_gpd_r")
        for seed in range(2)
    }
    for seed in range(2):
        assert len({starts[method, seed] for method in ("RS", "BO_l2_r", "BO_gpd_r")}) == 1
    assert len(set(starts.values())) > 1
    central = recorded.functions.distances().mean(1).argsort()[:2].tolist()
    assert nt_search.replay(recorded, nt_search.METHODS["BO_l2"], 7)[:2] == central


def made_rows():
    """Two methods on one realisation; the first stops after two paths in its only run."""
    rows = [
        ("BO_l2", 0, 0, 1, "a", 0.5, 0.5),
        ("BO_l2", 0, 0, 2, "b", 0.75, 0.75),
        ("RS", 0, 0, 1, "c", 0.25, 0.25),
        ("RS", 0, 0, 2, "a", 0.5, 0.5),
        ("RS", 0, 0, 3, "b", 0.75, 0.75),
        ("RS", 0, 1, 1, "b", 0.75, 0.75),
        ("RS", 0, 1, 2, "a", 0.5, 0.75),
        ("RS", 0, 1, 3, "c", 0.25, 0.75),
    ]
    return pd.DataFrame(rows, columns=list(nt_search.COLUMNS))


def test_curves_stopping_and_summary_by_hand():
    rows = made_rows()
    curves = nt_search.curves(rows)
    assert curves.loc["BO_l2"].to_numpy().tolist() == [[0.5, 0.75, 0.75]]
    assert curves.loc["RS"].mean().tolist() == [0.5, 0.625, 0.75]
    stopping = nt_search.stopping(rows)
    assert stopping["paths"].tolist() == [2, 3, 3]
    assert stopping["best_accuracy"].tolist() == [0.75, 0.75, 0.75]
    assert stopping["highest_accuracy"].tolist() == [0.75, 0.75, 0.75]
    headers, lines = tables.nt_search_summary(rows)
    assert headers == ["method", "runs", "paths until it stopped", "best after 2", "at its end"]
    assert lines == [
        ["BO_l2", 1, "2.0", "75.0", "75.0"],
        ["RS", 2, "3.0 ± 0.0", "62.5 ± 12.5", "75.0 ± 0.0"],
        ["all suffixes", 1, None, None, "75.0"],
    ]


class MadeSequence:
    settings = SETTINGS

    def __len__(self):
        return 5

    def problem(self, index):
        return make_problem(index)


@pytest.mark.slow
def test_all_that_searches_ask_for_is_trained_once(tmp_path):
    job = make_plan(Request(("nt-only",), sequences=(nt_search.SEQUENCE,))).asked[0]
    told = []
    recorded = nt_search.record(job, MadeSequence(), tmp_path / "evaluations", told.append)
    assert [suffix.names for suffix in recorded.suffixes] == [
        (f"{i}.2", f"{i}.3", f"{i}.4") for i in (1, 2, 3, 4)
    ]
    assert len(told) == 8
    store = EvaluationStore(tmp_path / "evaluations")
    stored = {entry.file for entry in store.entries()}
    assert len(stored) == 8
    again = nt_search.record(job, MadeSequence(), tmp_path / "evaluations", told.append)
    assert {entry.file for entry in store.entries()} == stored
    assert again.accuracies == recorded.accuracies
    assert torch.equal(again.functions.distances(), recorded.functions.distances())
    rows = list(nt_search.replay_all(recorded, 2, told.append))
    assert {row[0] for row in rows} == set(nt_search.METHODS)
    assert len(told) == 16 + 1 + 8 * 2


@pytest.mark.slow
def test_nt_search_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SCALES, "tiny", TINY)
    few = {method: nt_search.METHODS[method] for method in ("BO_l2", "BO_l2_r", "RS")}
    monkeypatch.setattr(nt_search, "METHODS", few)
    monkeypatch.setattr(nt_search, "KERNELS", ())
    threads = torch.get_num_threads()
    out = tmp_path / "runs"
    arguments = ["--scale", "tiny", "--realisations", "1", "--seeds", "2", "--out", str(out)]
    assert run(["ablate", "nt-search", *arguments]) == 0
    assert torch.get_num_threads() == threads
    rows = pd.read_csv(out / "ablate-nt-search.csv")
    assert tuple(rows.columns) == nt_search.COLUMNS
    assert rows.groupby("method")["seed"].nunique().to_dict() == {"BO_l2": 1, "BO_l2_r": 2, "RS": 2}
    assert (rows[rows["method"] == "RS"].groupby("seed")["paths"].max() == 15).all()
    stopping = pd.read_csv(out / "ablate-nt-search-stopping.csv")
    assert len(stopping) == 5
    assert (out / "ablate-nt-search.png").read_bytes().startswith(b"\x89PNG")
    assert len(EvaluationStore(out / "evaluations").entries()) == 30
    printed = capsys.readouterr().out
    assert "all suffixes" in printed
    assert str(out / "ablate-nt-search-stopping.csv") in printed


@pytest.mark.slow
def test_a_single_seed_is_drawn_without_a_band(tmp_path):
    rows = pd.DataFrame(
        [(method, n, 0, 1.0) for method in density.METHODS for n in (50, 2000)],
        columns=["method", "N", "seed", "average_position"],
    )
    plots.draw_density(rows, tmp_path / "one.png", "one")
    assert (tmp_path / "one.png").stat().st_size > 1000
    assert tables.density_summary(rows)[1][0] == [50, *["1.00"] * 4]


def test_the_verb_imports_nothing_heavy():
    code = (
        "import sys, bell_bench_paper.cli.ablate\n"
        "from bell_bench.cli.verbs import run\n"
        "run(['ablate', '--help']); run(['ablate', 'nt-search', '--help'])\n"
        "heavy = {'torch', 'pandas', 'matplotlib', 'rich', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
