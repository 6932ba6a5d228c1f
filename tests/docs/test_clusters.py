"""The files that start clusters: as far as they can be tried without SLURM and without a cloud."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import psutil
import pytest

from tests.harness.conftest import build

CLUSTERS = pathlib.Path(__file__).parents[2] / "docs" / "clusters"
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed"
)

FAKES = {
    "scontrol": 'printf "one\\ntwo\\n"',
    "hostname": "echo 127.0.0.2",
    "srun": """
echo "$@" >> "$FAKE_LOG"
while [[ $1 == --* ]]; do shift; done
exec "$@"
""",
    "ray": 'exec "$PYTHON" -m ray.scripts.scripts "$@"',
    "bell-bench": 'exec "$PYTHON" -m bell_bench "$@"',
}
"""Stand-ins: every node is this machine."""


def stand_in(folder, **other):
    """The stand-ins as commands in a folder; its PATH."""
    folder.mkdir()
    for name, body in {**FAKES, **other}.items():
        (folder / name).write_text(f"#!/bin/bash\n{body}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_the_slurm_script_is_sound():
    script = str(CLUSTERS / "slurm.sh")
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", script], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", ["2.9.3", "2.51.2"])
def test_the_slurm_script_starts_no_cluster_that_would_ask_for_no_token(tmp_path, version):
    path = stand_in(tmp_path / "bin", ray=f"echo ray, version {version}")
    done = subprocess.run(
        ["bash", str(CLUSTERS / "slurm.sh")], capture_output=True, text=True,
        env={"PATH": path, "HOME": str(tmp_path), "FAKE_LOG": str(tmp_path / "srun.log")},
    )  # fmt: skip
    assert done.returncode == 1
    assert f"needs Ray 2.52, which asks for a token, or a newer one; here is Ray {version}" in (
        done.stderr
    )
    assert [file.name for file in tmp_path.iterdir()] == ["bin"]


@needs_ray
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Ray's clusters need Linux")
def test_the_slurm_script_runs_a_job_on_two_nodes_of_loopback(tmp_path):
    house = build(tmp_path)
    path = stand_in(tmp_path / "bin")
    with tempfile.TemporaryDirectory(prefix="bb", ignore_cleanup_errors=True) as short:
        environment = {
            **house.environment, "HOME": str(tmp_path), "PYTHON": sys.executable,
            "PATH": path, "FAKE_LOG": str(tmp_path / "srun.log"),
            "RAY_TMPDIR": short, "PORT": "6391", "SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1",
            "SLURM_JOB_NODELIST": "one,two", "SLURM_JOB_NUM_NODES": "2",
        }  # fmt: skip
        arguments = ["--suite", "tiny", "--sequence", "S_pl", "--algo", "constant"]
        with (tmp_path / "log.txt").open("wb") as log, subprocess.Popen(
            ["bash", str(CLUSTERS / "slurm.sh"), *arguments],
            env=environment, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT,
        ) as script:  # fmt: skip
            try:
                script.wait(timeout=300)
            finally:
                for child in psutil.process_iter(["environ"]):
                    if (child.info["environ"] or {}).get("RAY_TMPDIR") == short:
                        child.kill()
    told = (tmp_path / "log.txt").read_text(errors="replace")
    assert script.returncode == 0, told
    for name in ("constant", "sa"):
        assert house.record(name)["status"] == "done"
    started = [line for line in (tmp_path / "srun.log").read_text().splitlines() if "ray" in line]
    assert len(started) == 2
    assert "--exclude=one" in started[1]
    assert not list(tmp_path.glob(".bell-bench-ray-*")), "the token goes with the cluster"


@needs_ray
def test_the_cloud_file_is_what_ray_takes():
    import yaml
    from ray.autoscaler._private.util import prepare_config, validate_config

    content = yaml.safe_load((CLUSTERS / "aws.yaml").read_text())
    validate_config(prepare_config(content))
    types = content["available_node_types"]
    assert types[content["head_node_type"]]["resources"] == {"CPU": 0}
    assert json.loads(json.dumps(content)) == content, "nothing but plain values"
    (mounted,) = content["file_mounts"]
    assert all(f" {mounted}/bell_bench-*.whl" in each for each in content["setup_commands"])


@pytest.mark.parametrize("path", ["README.md", "docs/*.md", "docs/clusters/*"])
def test_what_is_installed_is_the_checkout(path):
    """No registry has the package."""
    root = CLUSTERS.parents[1]
    for file in root.glob(path):
        assert not re.search(r"pip install [^`\n]*[ '\"]bell-bench\b(?!-)", file.read_text()), file
