"""``bell-bench show``: what is told of a record, and what is drawn of it."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from bell_bench.cli.verbs import run
from bell_bench.records import SolvedProblem
from bell_bench_algorithms.paths_picture import Box, lanes, lay_out, links

JOB: dict[str, Any] = {
    "algorithm": "picle",
    "load": "nowhere:Picle",
    "provider": "made by hand",
    "suite": "gone",
    "suite_version": "1",
    "sequence": "S_few",
    "realisation": 0,
    "realisation_seed": 50,
    "seed": 0,
    "scale": "quick",
    "data": "glyphs",
    "protocol": "paper",
}
RESOURCES = {"paths_evaluated": 1, "paths_trained": 1, "updates": 9, "train_flops": 1e9,
             "wall_s": 1.0, "cpu_s": 1.0, "peak_memory_bytes": 2**20,
             "stored_bytes": 2**20}  # fmt: skip


def problem(index: int, path: str | None, *notes: dict[str, Any], classes: int = 2) -> Any:
    """A solved problem; its path is written as by ``show``, with "·" for new modules."""
    names = path and [f"{index + 1}.{layer + 1}" if name == "·" else name
                      for layer, name in enumerate(path.split())]  # fmt: skip
    return {
        "index": index,
        "name": f"k49_{index + 1}/X perm3",
        "classes": classes,
        "fingerprint": "",
        "test_fingerprint": "",
        "path": names,
        "resources": RESOURCES,
        "notes": list(notes),
        "accuracy_learnt": 0.75,
        "accuracy_final": 0.75,
    }


def choice(*paths: str) -> dict[str, Any]:
    """The note of a choice among these paths, of which the last won."""
    rows = [
        {"path": path.replace("·", "new").split(), "accuracy": 0.5 + place / 10, "diverged": False}
        for place, path in enumerate(paths)
    ]
    return {"evaluated": rows, "chosen": {**rows[-1], "why": "highest validation accuracy"}}


def candidate(module: str, likelihood: float | None, posterior: float) -> dict[str, Any]:
    return {
        "module": module,
        "log_likelihood": likelihood,
        "log_prior": -1e-9,
        "posterior": posterior,
    }


PT = {
    "layers": [
        {
            "layer": 1,
            "chosen": "7.1",
            "candidates": [
                candidate("0.1", None, 0),
                *(candidate(f"{n}.1", -1000.0 + n, float(n == 7)) for n in range(1, 8)),
            ],
        }
    ],
    "stopped": "the library has no module for layer 2",
}
NT = {
    "suffixes": [
        {"suffix": ["1.2", "1.3"], "problem": 1, "mean_distance": 0.7},
        {"suffix": ["2.2", "2.3"], "problem": 2, "mean_distance": 0.5},
    ],
    "steps": [
        {"evaluated": ["2.2", "2.3"], "why": "central first", "accuracy": 0.805},
        {
            "evaluated": None,
            "why": "highest UCB",
            "candidates": [
                {"suffix": ["1.2", "1.3"], "mean": 0.772, "deviation": 0.05, "ucb": 0.872,
                 "ei": 0.00076},
            ],
        },
    ],
    "stopped": "expected improvement is below 0.001",
    "best": ["2.2", "2.3"],
}  # fmt: skip


@pytest.fixture
def runs(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "runs"


def store(runs: pathlib.Path, *problems: Any, name: str = "job", **job: Any) -> str:
    """A finished job's folder, as an argument."""
    folder = runs / name
    folder.mkdir(parents=True)
    facts = {**JOB, **job}
    status = "done" if problems else "failed"
    record = {"schema": 1, "status": status, "reason": "", "job": facts, "problems": problems}
    (folder / "job.json").write_text(json.dumps(facts))
    (folder / "record.json").write_text(json.dumps(record))
    return str(folder)


def told(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    code = run(["show", *args])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run(["show", *args]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_best_candidates_are_told_and_more_when_asked(
    runs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = store(
        runs,
        problem(0, "· · ·", choice("· · ·")),
        problem(1, "1.1 · ·", {"pt": PT}, {"nt": NT}, choice("· · ·", "1.1 · ·")),
    )
    short = told(capsys, job)
    assert "problem 2 k49_2/X perm3: highest validation accuracy" in short
    assert ["*", "1.1", "·", "·", "60.00"] in words(short)
    assert ["1", "*7.1", "1", "6.1", "0", "5.1", "0", "…", "and", "5", "more"] in words(short)
    assert ["*", "2.2", "2.3", "–", "80.50"] in words(short)
    assert ["1.2", "1.3", "77.20", "±", "5.00", "–"] in words(short)
    assert "stopped: expected improvement is below 0.001" in short
    assert "log-likelihood" not in short
    assert "--problem N or --full" in short
    full = told(capsys, job, "--full")
    assert "problem 1" in full
    assert "log-likelihood" in full
    assert "--full" not in full
    second = told(capsys, job, "--problem", "2")
    assert "k49_1/X" not in second
    assert second.split("problem 2")[1] == full.split("problem 2")[1]
    assert json.loads(told(capsys, job, "--json"))["problems"][1]["notes"][0] == {"pt": PT}


def test_perceptual_candidates(runs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = words(told(capsys, store(runs, problem(0, "· ·", {"pt": PT})), "--full"))
    at = lines.index(["1", "*", "7.1", "-993.0", "0.0", "1"])
    rest = [["6.1", "-994.0"], ["5.1", "-995.0"], ["4.1", "-996.0"], ["3.1", "-997.0"]]
    assert [line[:2] for line in lines[at + 1 : at + 5]] == rest, "by likelihood, as posteriors tie"
    assert lines[at + 5] == ["…", "and", "3", "more"]
    assert " ".join(lines[at + 6]) == "stopped: the library has no module for layer 2"


def test_latent_steps(runs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, store(runs, problem(0, "· ·", {"nt": NT})), "--full")
    lines = words(text)
    assert lines.index(["2.2", "2.3", "2", "0.5"]) < lines.index(["1.2", "1.3", "1", "0.7"])
    assert ["1", "central", "first", "*", "2.2", "2.3", "80.50"] in lines
    assert "2 highest UCB 1.2 1.3 77.20 ± 5.00 87.20 0.00076" in map(" ".join, lines)
    assert "stopped: expected improvement is below 0.001; best: 2.2 2.3" in text


def test_in_short_a_suffix_is_told_with_what_was_expected_of_it_and_found(
    runs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def expected(number: int, mean: float) -> dict[str, Any]:
        return {"suffix": [f"{number}.2"], "mean": mean, "deviation": 0.01, "ucb": 0.9, "ei": 0.01}

    steps = [
        {"evaluated": ["1.2"], "why": "central first", "accuracy": 0.6},
        {"evaluated": ["2.2"], "why": "highest UCB", "accuracy": 0.7,
         "candidates": [expected(2, 0.8), expected(3, 0.1), expected(4, 0.5)]},
        {"evaluated": None, "why": "highest UCB", "candidates": [expected(3, 0.2),
                                                                 expected(4, 0.65)]},
    ]  # fmt: skip
    suffixes = [{"suffix": [f"{n}.2"], "problem": n, "mean_distance": 0.5} for n in range(1, 5)]
    note = {"suffixes": suffixes, "steps": steps, "stopped": "enough", "best": ["2.2"]}
    lines = words(told(capsys, store(runs, problem(0, "· ·", {"nt": note}))))
    at = lines.index(["*", "2.2", "80.00", "±", "1.00", "70.00"])
    assert lines[at + 1] == ["4.2", "65.00", "±", "1.00", "–"], "as last expected"
    assert lines[at + 2] == ["1.2", "–", "60.00"]
    assert lines[at + 3] == ["…", "and", "1", "more"]


def test_in_short_what_there_was_no_choice_of_and_notes_of_strangers_are_left_out(
    runs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = {"pt": {"layers": [], "stopped": "x"}}, {"nt": {"suffixes": [], "steps": []}}
    notes = (*empty, {"pt": "mine"}, {"budget": {"paths": 3}}, choice("· ·"))
    short = told(capsys, store(runs, problem(0, "· ·", *notes)))
    assert "PT" not in short
    assert "NT" not in short
    assert "mine" not in short
    assert "budget" not in short
    assert "--problem N or --full tells more of what each was chosen from" in short


def test_notes_of_the_baselines(runs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    neighbours = [
        {"problem": 1, "modules": ["1.1", "1.2"], "accuracy": 0.5},
        {"problem": 2, "modules": ["1.1", "2.2"], "accuracy": 0.75},
    ]
    budget = {"trainings": 15, "train_flops": 1.25e11, "paths": 13}
    notes = ({"nearest_neighbours": neighbours}, {"budget": budget}, {"nearest_neighbours": []})
    text = told(capsys, store(runs, problem(0, "· ·", *notes)), "--full")
    at = words(text).index(["*", "2", "1.1", "2.2", "75.00"])
    assert words(text)[at + 1] == ["1", "1.1", "1.2", "50.00"]
    many = store(runs, problem(0, "· ·", {"nearest_neighbours": 2 * neighbours}), name="many")
    assert ["…", "and", "1", "more"] in words(told(capsys, many))
    assert "budget: trainings: 15; train_flops: 1.25e+11; paths: 13" in text
    assert "no earlier solution’s first modules fit" in text


def test_notes_of_strangers(runs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = ({"pt": "mine"}, {"loss": [0.5, 0.25]}, {"loss": None}, {"chosen": 3}, {"x": "y" * 999})
    text = told(capsys, store(runs, problem(0, None, *notes)), "--problem", "1")
    for line in ("  pt: mine", "  loss: 0.5, 0.25", "  loss: –", "  chosen: 3"):
        assert line in text.splitlines()
    assert "… (--json has all)" in text


@pytest.mark.parametrize("name", ["my-idea", "my_idea", "S_few-my-idea", "S_few_my:idea"])
def test_a_job_is_found_by_its_algorithms_name_in_any_spelling(
    name: str, runs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(runs, problem(0, None), name="bell-S_few-my_idea-r0-s0-0123abcd", algorithm="my-idea")
    store(runs, problem(0, None), name="bell-S_few-other-r0-s0-0123abcd", algorithm="other")
    assert "my-idea (made by hand) on gone S_few" in told(capsys, name, "--out", str(runs))


def test_an_unknown_run_is_told_with_the_nearest_few(
    runs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        store(runs, name=f"bell-S_few-picle-r{number}-s0")
    store(runs, name="bell-S_pl-mntdp_d-r0-s0")
    message = refused(capsys, "mntdp-e", "--out", str(runs))
    assert "none of the 21 jobs" in message
    assert "the nearest: bell-S_pl-mntdp_d-r0-s0" in message
    assert message.count("bell-S_") == 5


def test_wrong_usage(runs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = store(runs, problem(0, None), name="plain", algorithm="ewc")
    empty = store(runs, name="empty")
    modular = store(runs, problem(0, "· ·"), name="modular")
    running = runs / "running"
    running.mkdir()
    (running / "job.json").write_text(json.dumps(JOB))
    picture = ("--picture", str(runs / "drawn" / "x.png"))
    assert "ewc on S_few has no paths to draw: it is not modular" in refused(
        capsys, plain, *picture
    )
    assert "no problem is solved" in refused(capsys, empty, *picture)
    assert "not finished" in refused(capsys, str(running), *picture)
    assert "known endings: " in refused(capsys, modular, "--picture", str(runs / "x.exe"))
    assert "no problem 2: the job has solved 1" in refused(capsys, modular, "--problem", "2")
    for option in (picture, ("--full",), ("--problem", "1")):
        message = refused(capsys, str(runs), *option)
        assert f"{option[0]} is for one job" in message
        assert "\n  modular\n  plain\n  running" in message
    assert not (runs / "drawn" / "x.png").exists()


def laid_out(problems: list[Any]) -> list[Box]:
    return lay_out([SolvedProblem.from_json(each) for each in problems])


def test_modules_sit_at_their_layer() -> None:
    boxes = laid_out(
        [
            problem(0, "· ·", classes=8),  # first: by its classes, at the top
            problem(1, "1.1 · · ·"),
            problem(2, "· 2.4", choice("· ·", "· 2.4")),  # by the module it reuses
            problem(3, "· ·", choice("· 2.4", "· ·")),  # by a path that did not win
            problem(4, "· ·"),  # by its classes, at the end
        ]
    )
    rows = [[box.row for box in boxes if box.column == column] for column in range(5)]
    assert rows == [[0, 1], [0, 1, 2, 3], [2, 3], [2, 3], [2, 3]]
    assert [box.name for box in boxes if not box.new] == ["1.1", "2.4"]
    assert [box.origin for box in boxes if not box.new] == [0, 1]


def test_lines_lead_to_the_last_use_and_never_lie_on_another() -> None:
    paths = ["·", "·", "1.1", "2.1", "1.1", "1.1"]
    found = links(laid_out([problem(index, path) for index, path in enumerate(paths)]))
    ends = [(link.source.column, link.target.column) for link in found]
    assert ends == [(0, 2), (1, 3), (2, 4), (4, 5)]
    assert [link.straight for link in found] == [False, False, False, True]
    assert list(lanes(found[:3]).values()) == [0, 1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 60])
def test_the_picture(count: int, runs: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems = [problem(0, "· ·", choice("· ·"))]
    problems += [problem(index, "1.1 ·", choice("· ·", "1.1 ·")) for index in range(1, count)]
    file = runs / "drawn" / "paths.png"
    told(capsys, store(runs, *problems), "--picture", str(file))
    assert file.read_bytes().startswith(b"\x89PNG")


def test_drawing_imports_no_torch() -> None:
    code = "import sys, bell_bench_algorithms.paths_picture; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
