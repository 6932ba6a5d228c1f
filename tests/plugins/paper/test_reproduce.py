"""``bell-bench reproduce`` from the plan to the page, on the tiny suite."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from bell_bench.cli.verbs import run
from bell_bench.files import sha256
from bell_bench_paper.claims import Evidence, read_book
from bell_bench_paper.claims.report import paper_grids
from bell_bench_paper.reproduction import Scope
from bell_bench_paper.reproduction.ablations import ablation
from bell_bench_paper.reproduction.planning import merged, narrowed, plans
from bell_bench_paper.reproduction.running import LOG, spent_seconds
from tests.leaderboard.making import read, record, write_run

CLAIM = {"suite": "tiny", "part": "bell", "source": "Table 1", "figure": "F", "on": ["S_pl"]}
CLAIMS = {
    "title": "a tiny paper",
    "parts": {
        "bell": {"runs": [{"suite": "tiny", "protocol": "paper", "sequences": ["S_pl"],
                           "algorithms": ["sa", "constant", "forgetful"],
                           "realisations": [0, 1]}]},
        "none": {},
    },
    "tables": [{"suite": "tiny", "figure": "F", "source": "Table 1", "of": ["sa", "constant"],
                "rows": {"S_pl": [0, 0]}}],
    "claims": [
        {**CLAIM, "id": "keeps", "says": "sa keeps all", "rule": "within", "of": ["sa"],
         "settings": {"tolerance": 0.1}},
        {**CLAIM, "id": "loses", "says": "sa forgets", "rule": "below", "of": ["sa"],
         "settings": {"margin": -1}},
        {**CLAIM, "id": "other", "says": "rs keeps all", "rule": "within", "of": ["rs"],
         "settings": {"tolerance": 0.1}},
    ],
}  # fmt: skip


@pytest.fixture
def claims(house):
    (house.folder / "claims.json").write_text(json.dumps(CLAIMS))
    return ["--claims", "claims.json"]


@pytest.mark.slow
def test_it_runs_what_is_missing_and_judges(house, claims):
    before = house.bell_bench("reproduce", "bell", *claims, "--no-run")
    assert before.returncode == 0, before.stderr
    assert "runs missing: sa on S_pl" in before.stdout
    assert "jobs: 0 of 6 done" in before.stdout
    assert not (house.folder / "runs" / LOG).exists()

    done = house.bell_bench("reproduce", "bell", *claims, "--publish", "out", "--html", "p.html")
    assert done.returncode == 0, done.stderr
    assert "6 jobs to run" in done.stderr
    for told in ("jobs: 6 of 6 done", "not reproduced: 1", "published", "measured", "this command"):
        assert told in done.stdout
    with (house.folder / "out" / "claims.csv").open() as stream:
        verdicts = {row["id"]: row["verdict"] for row in csv.DictReader(stream)}
    assert verdicts == {"keeps": "reproduced", "loses": "not reproduced",
                        "other": "not enough evidence"}  # fmt: skip
    with (house.folder / "out" / "jobs.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == 6
    facts = json.loads((house.folder / "out" / "claims.json").read_text())
    assert facts["verdicts"]["reproduced"] == 1
    assert facts["seconds"]["this command"] > 0
    assert facts["seconds"]["jobs and ablations by themselves"] > 0
    assert "| keeps | reproduced |" in (house.folder / "out" / "claims.md").read_text()
    assert (house.folder / "p.html").read_text() == (house.folder / "out/page.html").read_text()

    again = house.bell_bench("reproduce", *claims, "--json")
    assert "0 jobs to run, 6 already done" in again.stderr
    assert json.loads(again.stdout)["verdicts"] == facts["verdicts"]
    lines = (house.folder / "runs" / LOG).read_text().splitlines()
    assert [json.loads(line)["jobs"] for line in lines] == [6, 0]
    assert "all commands so far" in json.loads(again.stdout)["time"]

    assert house.bell_bench("submit", "runs", "--out", "runs.zip").returncode == 0
    given = house.bell_bench("reproduce", *claims, "--json", "--with", "runs.zip", "--out", "new")
    assert json.loads(given.stdout)["verdicts"] == facts["verdicts"]
    assert not list((house.folder / "new").glob("tiny-*")), "nothing is run again"


@pytest.mark.slow
def test_what_takes_too_long_is_never_run_and_counts_where_it_was_done(house, claims):
    changed = json.loads(json.dumps(CLAIMS))
    (runs,) = changed["parts"]["bell"]["runs"]
    changed["parts"]["bell"]["runs"] = [
        {**runs, "algorithms": ["sa"]}, {**runs, "algorithms": ["constant"], "only_given": True}
    ]  # fmt: skip
    changed["claims"][2]["of"] = ["constant"]
    (house.folder / "claims.json").write_text(json.dumps(changed))

    def reproduced(*arguments: str) -> dict[str, Any]:
        done = house.bell_bench("reproduce", "bell", *claims, "--publish", "out", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads((house.folder / "out" / "claims.json").read_text())

    alone = reproduced()
    assert alone["jobs"] == "2 of 2 done"
    assert "constant on S_pl (takes long, so it is never run here" in alone["claims"][2]["why"]

    asked = ["--suite", "tiny", "--sequence", "S_pl", "--realisations", "2"]
    for folder in ("elsewhere", "runs"):
        house.bell_bench("evaluate", "--algo", "constant", *asked, "--out", folder)
        found = reproduced("--no-run", *(["--with", folder] if folder == "elsewhere" else []))
        assert found["jobs"] == "4 of 4 done"
        assert found["claims"][2]["verdict"] == "reproduced"
    took = "jobs and ablations by themselves"
    assert found["seconds"][took] == alone["seconds"][took], "only of what it runs"

    next((house.folder / "runs").glob("tiny-*-constant-*/record.json")).unlink()
    assert reproduced("--no-run")["jobs"] == "3 of 3 done", "one that was begun is not waited for"


@pytest.mark.slow
def test_it_narrows_and_tells_of_failed_jobs(house, claims):
    changed = json.loads(json.dumps(CLAIMS))
    changed["parts"]["bell"]["runs"][0]["algorithms"].append("fail")
    (house.folder / "claims.json").write_text(json.dumps(changed))
    done = house.bell_bench("reproduce", "bell", *claims, "--algo", "fail", "--realisation", "1")
    assert done.returncode == 1
    assert "no such luck" in done.stdout
    assert "fail S_pl r1" in done.stderr
    assert " r0 " not in done.stderr
    assert "sa forgets" not in done.stdout, "only the claims about what was asked for"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bel"], "did you mean bell"),
        (["bell", "--algo", "picel"], "did you mean picle"),
        (["bell", "--sequence", "S_fwe"], "did you mean S_few"),
        (["bell", "--sequence", "s_in"], "bell runs nothing of s_in; parts that do: ctrl"),
        (["bell", "--scale", "quik", "--no-run"], "did you mean quick"),
        (["bell", "--data", "glyps", "--no-run"], "did you mean glyphs"),
        (["bell", "--claims", "no-such-file"], "no-such-file"),
        (["bell", "--html", "/dev/null/page.html"], "folder cannot be made"),
        (["bell", "--no-run", "--with", "."], "no results in ., given by --with"),
        (["bell", "--publish", "/dev/null/here"], "folder cannot be made"),
    ],
)
def test_wrong_usage_is_told(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_results_that_count_for_nothing_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "given", record("sa", [0.5], sequence="S_pl"))
    asked = ["bell", "--no-run", "--scale", "paper", "--sequence", "S_pl", "--with", "given"]
    assert run(["reproduce", *asked]) == 0
    assert "none of the 1 results given by --with counts" in capsys.readouterr().err


def test_the_parts_are_what_the_issue_asks_for():
    book = read_book()
    counts = {part: len(merged(plans(book, [part], Scope())).jobs) for part in book.parts}
    paper, latent, others = 9 * 10 * 3, 2 * 10 * 3, 7 * 4 * 3
    assert counts == {
        "bell": paper + latent + others, "ctrl": 5 * 10 * 3, "scale": 5 + 4, "ablations": 5
    }  # fmt: skip


def test_one_plan_has_every_job_once_and_long_sequences_first():
    book = read_book()
    several = list(plans(book, ["bell", "scale"], Scope()))
    plan = merged([*several, *several])
    assert len(plan.jobs) == len({job.name for job in plan.jobs}) == 423
    assert [job.sequence for job in plan.jobs[:5]] == ["S_long"] * 5
    assert {job.sequence for job in plan.jobs[:9]} == {"S_long", "s_long"}
    assert plan.added == frozenset()


def test_standalone_jobs_that_nobody_asked_for_are_added():
    scope = Scope(algorithms=("picle",), sequences=("S_out",), realisations=(4,))
    plan = merged(plans(narrowed(read_book(), scope), ["bell"], scope))
    assert [(job.algorithm, job.realisation, job.protocol) for job in plan.jobs] == [
        (name, 4, protocol) for protocol in ("paper", "authors-code") for name in ("picle", "sa")
    ]
    assert [job.algorithm for job in plan.asked] == ["picle", "picle"]


def test_narrowing_keeps_the_claims_that_it_may_decide():
    scope = Scope(algorithms=("sa", "mntdp-d", "picle"), sequences=("S_few", "S_in"))
    kept = {claim.id for claim in narrowed(read_book(), scope).claims if claim.part == "bell"}
    assert {"bell-few-over-mntdp", "bell-in-mntdp-paper", "bell-few-picle"} <= kept
    assert not {"bell-nine-A", "bell-few-A", "bell-sp-picle-paper"} & kept


def test_narrowing_keeps_the_rows_of_printed_tables_that_are_run():
    book = narrowed(read_book(), Scope(sequences=("S_few",)))
    (grid,) = paper_grids(Evidence(book, [], {}), ["bell"])
    assert grid.title.startswith("Table 1")
    found = [(str(row[0]), str(row[1])) for row in grid.rows if str(row[2]) == "published"]
    assert found == [("A", "S_few"), ("Tr⁻¹", "S_few")], "and no average of sequences not run"


def test_narrowing_keeps_a_property_only_with_all_sequences_that_decide_it():
    """Stability is of all nine: two of them are not enough for the paper's tick."""
    scope = Scope(sequences=("S_few", "S_in"))
    traits = {claim.trait for claim in narrowed(read_book(), scope).claims if claim.trait}
    assert traits == {"few-shot"}


@pytest.mark.slow
def test_every_request_can_be_planned_at_every_scale():
    for scale in ("quick", "standard", "paper"):
        assert all(plan.jobs[0].scale == scale for plan in
                   plans(read_book(), ["bell", "ctrl", "scale"], Scope(scale=scale)))  # fmt: skip


ROW = {
    "density": {"method": "rp_20", "N": 50, "seed": 0, "average_position": 0.5},
    "nt-search": {"method": "RS", "realisation": 0, "seed": 0, "paths": 1, "best_accuracy": 0.5},
}


@pytest.fixture
def calls(monkeypatch):
    """What stands in for an ablation takes only what the real one does, and notes it."""
    import inspect

    import pandas as pd

    from bell_bench import import_strings

    noted = []
    real = import_strings.load_object

    def load(text):
        signature = inspect.signature(real(text))
        name = "density" if "density" in text else "nt-search"

        def run(**options):
            signature.bind(**options)
            noted.append(options)
            return pd.DataFrame([ROW[name]])

        return run

    monkeypatch.setattr("bell_bench_paper.reproduction.ablations.load_object", load)
    return noted


def found(name, out, *, given=(), run=True, scale=None):
    return ablation(name, Scope(scale=scale), out, given, run=run, quiet=True)


@pytest.mark.parametrize("name", ROW)
def test_an_ablation_is_run_once(name, tmp_path, calls):
    assert found(name, tmp_path, run=False) is None
    first = found(name, tmp_path)
    assert first.rows == [{column: str(value) for column, value in ROW[name].items()}]
    assert first.seconds >= 0
    assert found(name, tmp_path) == first
    assert len(calls) == 1
    found(name, tmp_path, scale="paper")
    assert [call["scale"] for call in calls] == ["quick", "paper"]


@pytest.mark.parametrize("name", ROW)
def test_an_ablation_counts_where_it_is_given_whichever_torch_ran_it(name, tmp_path, calls):
    first = found(name, tmp_path)
    first.write(tmp_path / "there")
    told = next((tmp_path / "there").glob("ablations/*.json"))
    told.write_text(told.read_text().replace('"torch": "', '"torch": "9.'))
    here = tmp_path / "here"
    assert found(name, here, given=[tmp_path / "there"], run=False).rows == first.rows
    assert found(name, here, given=[tmp_path / "there"], run=False, scale="paper") is None
    assert not here.exists()
    assert len(calls) == 1


@pytest.mark.parametrize("damage", [
    lambda told: told.with_suffix(".csv").write_text("method,N\nrp_20,5"),
    lambda told: told.write_text("{"),
    lambda told: told.write_text("[]"),
    lambda told: told.write_text(told.read_text().replace('"sha256"', '"sha"')),
])  # fmt: skip
def test_a_damaged_ablation_is_run_again(damage, tmp_path, calls):
    first = found("density", tmp_path)
    damage(next(tmp_path.glob("ablations/*.json")))
    with pytest.warns(UserWarning, match="is left out"):
        assert found("density", tmp_path, run=False) is None
    with pytest.warns(UserWarning, match="is left out"):
        assert found("density", tmp_path).rows == first.rows
    assert len(calls) == 2


def test_an_ablation_without_numbers_is_left_out(tmp_path, calls):
    found("density", tmp_path)
    told = next(tmp_path.glob("ablations/*.json"))
    text = told.with_suffix(".csv").read_text().replace("0.5", "nan")
    told.with_suffix(".csv").write_text(text)
    content = json.loads(told.read_text())
    told.write_text(json.dumps({**content, "sha256": sha256(text.encode())}))
    with pytest.warns(UserWarning, match="average_position is not always a number"):
        assert found("density", tmp_path / "here", given=[tmp_path], run=False) is None


def test_the_time_of_jobs_is_what_they_took_not_what_they_are_charged():
    looked_up = {"wall_s": 100.0, "seconds": 99.0, "spent_seconds": 0.5}
    never_asked = {"wall_s": 30.0, "seconds": 0.0, "spent_seconds": 0.0}
    elsewhere = {"wall_s": 7.0}
    records = [
        read(record(learnt=(0.5,), resources=each)) for each in (looked_up, never_asked, elsewhere)
    ]
    assert spent_seconds(records) == 1.5 + 30 + 7
