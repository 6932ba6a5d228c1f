"""The colour datasets on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from bell_bench.cli.data import command as data_command
from bell_bench.cli.describe import command as describe_command
from bell_bench.data.catalogue import DTD, SVHN
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.suites.ctrl.domains import DOMAINS
from tests.data.colour.official_formats import made_colours, svhn_files
from tests.data.official_formats import expect, write


def _run(command, *arguments: str) -> str:
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    return done.stdout


def _rows(*arguments: str) -> dict[str, dict[str, object]]:
    listed = json.loads(_run(data_command, "list", "--json", *arguments))
    return {row["name"]: row for row in listed}


def test_list_and_import(tmp_path):
    np.savez(tmp_path / "a.npz", **made_colours(10))
    assert "cifar10 now means these images, not those of CIFAR-10" in _run(
        data_command, "import", "cifar10", str(tmp_path / "a.npz")
    )
    rows = _rows()
    assert list(rows)[-6:] == list(DOMAINS)
    assert rows["cifar10"]["source"] == "imported"
    assert rows["dtd"]["status"] == "missing"
    assert {row["status"] for row in _rows("--source", "glyphs").values()} == {"present"}


def test_verify_and_download(folder, monkeypatch):
    files = svhn_files(made_colours(10))
    expect(monkeypatch, SVHN, files)
    write(folder, files)
    assert _rows()["svhn"]["status"] == "present"
    assert _run(data_command, "verify", "svhn").count("MD5 as published") == 2
    assert "SVHN: already here" in _run(data_command, "download", "svhn")
    write(folder, {"test_32x32.mat": b"cut"})
    with pytest.raises(BellBenchError, match="1 of 2 files are corrupt"):
        _run(data_command, "verify", "svhn")
    with pytest.raises(UsageError, match="did you mean cifar100 or cifar10"):
        _run(data_command, "download", "cifar1000")


@pytest.mark.slow
def test_describe_draws_a_contact_sheet(tmp_path):
    text = _run(describe_command, "dtd", "--picture", str(tmp_path / "dtd.png"))
    assert "objects, digits, garments and textures" in text
    assert (tmp_path / "dtd.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads(_run(describe_command, "dtd", "--data", "images", "--json"))
    assert facts["licence"] == DTD.licence
    assert facts["classes"] == 47
    assert facts["status"] == "missing"
