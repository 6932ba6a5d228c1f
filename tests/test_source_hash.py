"""A package installed to be edited: what is edited is another algorithm, and is run again."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from bell_bench.errors import BellBenchError
from bell_bench.harness.worker import check_source
from bell_bench.plugins import Provided
from bell_bench.source_hash import edited
from bell_bench.specs import AlgorithmSpec
from tests.plugins.avalanche.making import make_job

SPEC = AlgorithmSpec("mine", "my_idea.algorithm:Mine", "An idea.")
PROVIDED = Provided(SPEC, "my-idea", "my-idea", "0.1")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that is being edited, and the metadata that says so."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "my_idea"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "algorithm.py").write_text("raise AssertionError('imported')")
    install(tmp_path, editable=True)
    return folder


def install(folder, *, editable: bool) -> None:
    info = folder / "my_idea-0.1.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-idea\nVersion: 0.1\n")
    content = {"url": "file:///x", "dir_info": {"editable": editable}}
    (info / "direct_url.json").write_text(json.dumps(content))


def test_an_edit_is_another_provider_and_the_same_source_the_same(package):
    before = PROVIDED.provider
    assert before.startswith("my-idea 0.1+source.")
    assert PROVIDED.provider == before
    (package / "helper.py").write_text("one = 1")
    after = PROVIDED.provider
    (package / "helper.py").rename(package / "other.py")
    assert len({before, after, PROVIDED.provider}) == 3
    (package / "other.py").unlink()
    assert PROVIDED.provider == before


def test_a_version_stands_for_what_cannot_be_edited(package):
    install(package.parent, editable=False)
    assert PROVIDED.provider == "my-idea 0.1"
    (package.parent / "my_idea-0.1.dist-info" / "direct_url.json").write_text("[1")
    assert PROVIDED.provider == "my-idea 0.1"
    (package.parent / "my_idea-0.1.dist-info" / "direct_url.json").unlink()
    assert PROVIDED.provider == "my-idea 0.1"
    assert not edited("my-idea 0.1", SPEC.load)


def test_ours_has_versions_of_its_own():
    ours = Provided(AlgorithmSpec("sa", "bell_bench_algorithms.sa:Sa", "x"), "x", "bell-bench", "1")
    assert ours.provider == "bell-bench 1"


def test_a_job_planned_with_other_source_is_refused(package):
    job = replace(make_job("sa"), load=SPEC.load, provider=PROVIDED.provider)
    check_source(job)
    (package / "algorithm.py").write_text("changed = True")
    with pytest.raises(BellBenchError, match=r"my_idea\.algorithm has changed since the run"):
        check_source(job)
