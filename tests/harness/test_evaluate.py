"""The whole way from the command line to records, on a tiny suite."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time

import numpy as np
import psutil
import pytest

from bell_bench.files import read_arrays
from bell_bench_leaderboard import COLUMNS
from tests.processes import workers_of

pytestmark = pytest.mark.slow  # every run starts processes that import torch


def wait_for(what, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def test_one_csv_row_per_job_with_the_promised_columns(shared):
    house, _ = shared
    rows = {row["algorithm"]: row for row in csv.DictReader((house.folder / "rows.csv").open())}
    assert tuple(rows["sa"]) == COLUMNS
    constant, standalone = rows["constant"], rows["sa"]
    assert constant["status"] == "done"
    assert float(constant["F"]) == 0
    assert float(standalone["Tr_last"]) == 0
    assert int(standalone["paths_trained"]) == 6
    final = {
        name: [problem["accuracy_final"] for problem in house.record(name)["problems"]]
        for name in ("constant", "sa")
    }
    assert float(constant["A"]) == pytest.approx(100 * np.mean(final["constant"]), rel=1e-4)
    transfer = 100 * (final["constant"][-1] - final["sa"][-1])
    assert float(constant["Tr_last"]) == pytest.approx(transfer, rel=1e-4)
    assert rows["fail"]["status"] == "failed"
    assert rows["fail"]["A"] == ""


def test_observers_are_told(shared):
    house, _ = shared
    observed = house.observed()
    assert observed[0] == "started 11"
    for index in range(6):
        assert f"solved sa {index}" in observed
    assert "finished sa done" in observed
    assert "finished fail failed" in observed
    assert "solved fail 1" in observed
    assert "solved fail 2" not in observed


def test_what_a_record_holds(shared):
    house, _ = shared
    record = house.record("sa")
    assert record["schema"] == 1
    assert record["job"]["realisation_seed"] == 30
    assert record["environment"]["packages"]["torch"]
    assert record["environment"]["cpu"]
    assert [len(row) for row in record["matrix"]] == [1, 2, 3, 4, 5, 6]
    (folder,) = (house.folder / "runs").glob("*-sa-*")
    predictions = read_arrays(folder / "predictions.npz")
    for problem in record["problems"]:
        index = problem["index"]
        assert len(problem["fingerprint"]) == 64
        assert len(problem["path"]) == 8
        right = predictions[f"final_{index}"] == predictions[f"labels_{index}"]
        assert problem["accuracy_final"] == right.mean()
        used = problem["resources"]
        assert used["paths_trained"] == 1
        assert used["updates"] == 40
        assert used["train_flops"] > 0
        assert used["peak_memory_bytes"] > 2**20
    stored = [problem["resources"]["stored_bytes"] for problem in record["problems"]]
    assert stored == sorted(stored)


def test_forgetting_shows_in_f_and_in_the_matrix(shared):
    record = shared[0].record("forgetful")
    for problem in record["problems"][:-1]:
        assert problem["accuracy_learnt"] + problem["accuracy_final"] == pytest.approx(1)
    assert record["matrix"][-1] == [problem["accuracy_final"] for problem in record["problems"]]
    diagonal = [row[-1] for row in record["matrix"]]
    assert diagonal == [problem["accuracy_learnt"] for problem in record["problems"]]


@pytest.mark.parametrize(
    ("algorithm", "status", "words", "solved"),
    [
        ("fail", "failed", "ValueError: no such luck", 2),
        ("leave", "failed", "exit code 3", 2),
        ("die", "failed", "SIGKILL", 2),
        ("leak", "out-of-memory", "over the limit of 2 GB", 2),
        ("refuse", "unsupported", "not for me", 2),
        ("shapeless", "failed", "must give class scores of shape (64, 2), not (64, 1)", 0),
        ("absent", "failed", "cannot load 'tiny:NoSuchClass': unknown name", 0),
        ("elsewhere", "unsupported", "elsewhere supports ctrl, not tiny", 0),
    ],
)
def test_a_fault_costs_its_own_row_and_names_its_reason(shared, algorithm, status, words, solved):
    house, done = shared
    record = house.record(algorithm)
    assert (record["status"], len(record["problems"])) == (status, solved)
    assert words in record["reason"]
    assert done.returncode == 1
    assert status in done.stdout
    if status != "unsupported":
        assert words in done.stdout
        assert "log.txt" in done.stdout


def test_show_and_leaderboard_read_what_was_stored(shared):
    house, _ = shared
    told = house.bell_bench("show", "S_pl-sa").stdout
    assert "1 emnist_3/X identity" in told
    assert "the only path evaluated" in told
    assert "6.8" in told, "the last module of the last solution"
    assert json.loads(house.bell_bench("show", "S_pl-sa", "--json").stdout)["status"] == "done"
    failed = house.bell_bench("show", "S_pl-fail").stdout
    assert "status: failed: ValueError: no such luck" in failed
    assert "S_pl" in house.bell_bench("leaderboard").stdout
    rows = json.loads(house.bell_bench("leaderboard", "--json").stdout)
    assert {row["algorithm"] for row in rows} >= {"sa", "constant", "fail"}
    lost = house.bell_bench("show", "S_plsa")
    assert lost.returncode == 2
    assert "S_pl-sa" in lost.stderr


def test_the_same_command_again_continues_and_fresh_starts_over(house):
    until = house.folder / "mended"
    arguments = ("--algo", "fail", "--option", f"fail.until={until}")
    assert house.evaluate(*arguments).returncode == 1
    assert house.record("sa")["status"] == "done", "Tr needs the standalone run, so it is planned"
    until.touch()
    again = house.evaluate(*arguments)
    assert again.returncode == 0, again.stderr
    assert "1 jobs to run, 1 already done" in again.stderr
    assert "resumed after problem 2" in again.stderr
    assert [problem["index"] for problem in house.record("fail")["problems"]] == list(range(6))
    kept = house.evaluate(*arguments)
    assert "0 jobs to run, 2 already done" in kept.stderr
    fresh = house.evaluate(*arguments, "--fresh")
    assert "2 jobs to run" in fresh.stderr
    assert "resumed" not in fresh.stderr


@pytest.mark.parametrize("streams", ["<&- >&- 2>&-", "2>/dev/full"])
def test_a_run_needs_neither_input_nor_output(furnished, streams):
    """As some schedulers start it, all three streams are closed; or its messages go to a full disk,
    which costs the messages."""
    command = furnished.command("evaluate", "--suite", "tiny", "--sequence", "S_pl", "--algo",
                                "constant", "--csv", "rows.csv")  # fmt: skip
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *command],
        env=furnished.environment, cwd=furnished.folder, timeout=furnished.patience,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0
    assert furnished.record("constant")["status"] == "done"
    assert (furnished.folder / "rows.csv").stat().st_size


def test_a_job_over_its_time_is_ended(furnished):
    done = furnished.evaluate("--algo", "hang", "--timeout", "8s")
    assert done.returncode == 1
    record = furnished.record("hang")
    assert record["status"] == "timeout"
    assert "over the limit of 8 s" in record["reason"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--algo", "constant", "--device", "cudaa"), 1, "--device cudaa cannot be used"),
        (("--algo", "constan"), 2, "did you mean constant"),
        (("--algo", "constant", "--scale", "quack"), 2, "did you mean quick"),
        (("--algo", "constant", "--sequence", "S_plu"), 2, "did you mean S_plus"),
        (("--algo", "constant", "--option", "constant.untill=1"), 2, "did you mean until"),
        (("--algo", "constant", "--realisation", "1", "--realisations", "2"), 2, "not both"),
        (("--algo", "constant", "--seed", "one"), 2, "not a valid int"),
        (("--algo", "constant", "--realisations", str(10**30)), 2, "number from 1 to 10000"),
        (("--algo", "constant", "--realisations", "0"), 2, "--realisations 0 was asked for"),
        (("--algo", "constant", "--threads", str(10**30)), 2, "number from 1 to 1024"),
        (("--algo", "constant", "--jobs", "0"), 2, "--jobs 0 was asked for"),
        (("--algo", "constant", "--timeout", "soon"), 2, "is not a time"),
        (("--algo", "constant", "--memory", "0"), 2, "is not a size"),
        (("--algo", "constant", "--csv", "/dev/null/x.csv"), 2, "folder cannot be made"),
        ((), 2, "Missing option '--algo'"),
    ],
)
def test_wrong_usage_is_told_before_anything_runs(house, arguments, code, words):
    done = house.evaluate(*arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((house.folder / "runs").glob("*/record.json"))


def test_missing_images_name_what_can_run_and_how_to_get_the_rest(house):
    done = house.evaluate("--algo", "constant", "--data", "images")
    assert done.returncode == 2
    assert "bell-bench data download" in done.stderr
    assert "ready to run: none" in done.stderr


def listen_to_ctrl_c() -> None:
    """What a shell's foreground job does, even where these tests are a background job."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(furnished, stop):
    until = furnished.folder / "mended"
    arguments = ("evaluate", "--suite", "tiny", "--sequence", "S_pl", "--algo", "hang",
                 "--option", f"hang.until={until}")  # fmt: skip
    with subprocess.Popen(
        furnished.command(*arguments),
        env=furnished.environment, cwd=furnished.folder, stderr=subprocess.PIPE, text=True,
        preexec_fn=listen_to_ctrl_c,
    ) as process:  # fmt: skip
        wait_for(lambda: "solved hang 1" in furnished.observed())
        process.send_signal(stop)
        try:
            errors = process.communicate(timeout=30)[1]
        finally:
            process.kill()
    assert process.returncode == 130
    assert "the same command goes on" in errors
    assert "Traceback" not in errors
    assert furnished.record("hang")["status"] == "interrupted"
    until.touch()
    again = furnished.bell_bench(*arguments)
    assert again.returncode == 0, again.stderr
    assert "hang S_pl r0 s0: resumed after problem 2" in again.stderr


def test_a_worker_ends_with_its_parent(house):
    arguments = ("evaluate", "--suite", "tiny", "--sequence", "S_pl", "--algo", "hang",
                 "--jobs", "1")  # fmt: skip
    with subprocess.Popen(
        house.command(*arguments), env=house.environment, cwd=house.folder, stderr=subprocess.PIPE
    ) as process:
        wait_for(lambda: "solved hang 1" in house.observed())
        run = psutil.Process(process.pid)
        workers = workers_of(run)
        started = run.children(recursive=True)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert workers
    assert set(workers) < set(started), "and what starts them"
    assert not psutil.wait_procs(started, 15)[1]


def test_a_local_file_runs_as_an_installed_plugin_does(furnished):
    (furnished.folder / "mine.py").write_text(
        "import torch\n"
        "from bell_bench import Algorithm\n"
        "class Mine(Algorithm):\n"
        "    'Says the second class.'\n"
        "    def learn(self, problem): self.classes = problem.classes\n"
        "    def predict(self, index, inputs):\n"
        "        return torch.eye(self.classes)[[1] * len(inputs)]\n"
    )
    done = furnished.evaluate("--algo", "./mine.py:Mine")
    assert done.returncode == 0, done.stderr
    assert furnished.record("Mine")["status"] == "done"


def test_two_sequences_share_the_evaluations_of_their_common_problems(house):
    """S_in and S_sp have their first five problems in common; costs are charged all the same."""
    done = house.evaluate("--algo", "sa", "--sequence", "S_sp", "--jobs", "1", sequence="S_in")
    assert done.returncode == 0, done.stderr
    used = {}
    for name in ("S_in", "S_sp"):
        (file,) = (house.folder / "runs").glob(f"*{name}-sa*/record.json")
        problems = json.loads(file.read_text())["problems"]
        used[name] = [problem["resources"] for problem in problems]
    assert [each["paths_computed"] for each in used["S_in"]] == [1] * 6
    assert [each["paths_computed"] for each in used["S_sp"]] == [0, 0, 0, 0, 0, 1]
    assert [each["paths_trained"] for each in used["S_sp"]] == [1] * 6
    for name in ("updates", "train_flops", "paths_evaluated"):
        assert [e[name] for e in used["S_in"][:5]] == [e[name] for e in used["S_sp"][:5]]


def test_two_runs_on_one_store_do_no_work_twice(house):
    arguments = ("evaluate", "--suite", "tiny", "--sequence", "S_pl", "--algo", "sa")
    runs = [
        subprocess.Popen(house.command(*arguments), env=house.environment, cwd=house.folder,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    for run in runs:
        output, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors
        assert "S_pl" in output
    observed = house.observed()
    assert sorted(line for line in observed if line.startswith("solved")) == [
        f"solved sa {index}" for index in range(6)
    ]
    computed = [p["resources"]["paths_computed"] for p in house.record("sa")["problems"]]
    assert computed == [1] * 6


def test_a_record_holds_all_settings_and_the_metrics(shared):
    record = shared[0].record("forgetful")
    assert record["settings"]["training"]["max_updates"] == 40
    assert record["settings"]["scale"]["width"] == 4
    assert record["settings"]["protocol"]["minus_images"] == 100
    first = record["problems"][0]
    change = 100 * (first["accuracy_final"] - first["accuracy_learnt"])
    assert record["metrics"]["backward_transfer"] == pytest.approx(change)


def test_out_of_memory_is_told_from_other_faults():
    from bell_bench.harness.worker import out_of_memory

    assert out_of_memory(MemoryError())
    assert out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"))
    assert out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate"))
    assert not out_of_memory(RuntimeError("shapes do not match"))


def test_a_suite_may_have_its_own_sources_scales_and_protocols(house):
    done = house.bell_bench("evaluate", "--suite", "spoken", "--sequence", "S_pl", "--algo", "sa")
    assert done.returncode == 0, done.stderr
    job = house.record("sa")["job"]
    assert (job["scale"], job["protocol"], job["data"]) == ("brief", "plain", "voices")
