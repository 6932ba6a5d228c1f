"""CTrL from the command line, on made-up images."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from bell_bench.suites.ctrl.plugin import bell_bench_suites
from tests.plugin_folder import make_distribution

MADE_UP = """
from bell_bench import SuiteSpec, hookimpl
from bell_bench.suites.ctrl import suite
from bell_bench.suites.ctrl.architecture import resnet
from tests.suites.ctrl.fake_images import Loads, tiny

suite.load, suite.missing = Loads(), lambda name, data: None
SCALE = tiny(max_updates=2, augment=True, grid=((1e-2, 0.0), (1e-3, 1e-4)))
MADE_UP = suite.Ctrl("made-up", resnet, {"quick": SCALE})

@hookimpl
def bell_bench_suites():
    yield SuiteSpec("made-up", "made_up:MADE_UP", "CTrL on made-up images")
"""


def bell_bench(folder: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = pathlib.Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(root)])}
    return subprocess.run(
        [sys.executable, "-m", "bell_bench", *arguments, "--suite", "made-up"],
        capture_output=True, text=True, env=environment, cwd=folder, timeout=300,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    make_distribution(tmp_path, "made_up", MADE_UP)
    return tmp_path


def test_both_setups_register():
    specs = {spec.name: spec.load for spec in bell_bench_suites()}
    assert specs == {
        "ctrl": "bell_bench.suites.ctrl.suite:CTRL",
        "ctrl-resnet": "bell_bench.suites.ctrl.suite:CTRL_RESNET",
    }


@pytest.mark.slow
def test_a_stream_is_described_and_drawn(folder):
    done = bell_bench(folder, "describe", "s_in", "--picture", "s_in.png")
    assert done.returncode == 0, done.stderr
    for words in ("latent transfer", "rainbow_mnist/", "digits and labels of 1", "shares"):
        assert words in done.stdout
    assert (folder / "s_in.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads(bell_bench(folder, "describe", "s_out", "--json").stdout)
    assert facts["problems"][5]["name"] == "cifar10/shifted"


@pytest.mark.slow
def test_a_whole_run_with_grid_and_augmentation(folder):
    done = bell_bench(folder, "evaluate", "--algo", "mntdp-d", "--sequence", "s_pl", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    records = {
        record["job"]["algorithm"]: record
        for record in (json.loads(f.read_text()) for f in folder.glob("runs/*/record.json"))
    }
    assert set(records) == {"mntdp-d", "sa"}
    training = records["sa"]["settings"]["training"]
    assert training["grid"] == [[0.01, 0.0], [0.001, 0.0001]]
    for problem in records["sa"]["problems"]:
        assert problem["resources"]["updates"] == 4, "two of each of the grid's two"
