"""What a pull request adds is judged by the installed code, out of git, without a checkout."""

from __future__ import annotations

import os
import pathlib
import subprocess
from dataclasses import dataclass

import pytest

from bell_bench_submissions.pull_request import FOLDER, main


@dataclass
class Repository:
    folder: pathlib.Path

    def git(self, *arguments: str) -> str:
        names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.symlinks=true")
        done = subprocess.run(
            ["git", *names, *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    @property
    def published(self) -> pathlib.Path:
        return self.folder / FOLDER


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Repository:
    made = Repository(tmp_path / "repository")
    made.published.mkdir(parents=True)
    made.git("init", "-q")
    (made.published / "old.zip").write_bytes(b"accepted long ago")
    monkeypatch.chdir(made.folder)
    return made


def test_a_sound_submission_is_accepted_and_others_are_told(
    repository, tiny, content, edit, capsys
):
    base = repository.commit()
    (repository.published / "new.zip").write_bytes(content)
    (repository.published / "table.csv").write_text("a,b\n")
    good = repository.commit()
    (repository.folder / FOLDER / "new.zip").unlink()
    assert main([base, good]) == 0
    told = capsys.readouterr().out
    assert "new.zip:\n4 jobs" in told
    assert "table.csv: not a submission" in told
    assert "old.zip" not in told
    edit.records["sa"]["metrics"]["A"] = 100.0
    (repository.published / "new.zip").write_bytes(edit.build())
    (repository.published / "rubbish.zip").write_bytes(b"rubbish")
    bad = repository.commit()
    assert main([base, bad]) == 2
    told = capsys.readouterr()
    assert "metrics.A is stated as 100" in told.out
    assert "is refused" in told.err
    assert "3 changed files in leaderboard/published, 2 refused" in told.out


def test_accepted_results_are_neither_changed_nor_removed(repository, capsys):
    base = repository.commit()
    (repository.published / "old.zip").write_bytes(b"changed")
    changed = repository.commit()
    assert main([base, changed]) == 1
    assert "old.zip: refused: accepted results are neither" in capsys.readouterr().out
    (repository.published / "old.zip").unlink()
    repository.commit()
    assert main([base]) == 1
    assert "old.zip: refused: accepted results are neither" in capsys.readouterr().out


@pytest.mark.parametrize("provider", ["bell-bench 0.1.0", "bell-bench 99"])
def test_what_was_accepted_is_not_contradicted(repository, tiny, content, edit, capsys, provider):
    """Another yardstick would move everybody's Tr⁻¹, and a file may come first by its name."""
    (repository.published / "known.zip").write_bytes(content)
    base = repository.commit()
    (repository.published / "again.zip").write_bytes(content)
    assert main([base, repository.commit()]) == 0
    (repository.published / "again.zip").unlink()
    edit.invent_standalone()
    edit.records["sa"]["job"]["provider"] = provider
    (repository.published / "a.zip").write_bytes(edit.build())
    capsys.readouterr()
    assert main([base, repository.commit()]) == 1
    told = capsys.readouterr().out
    assert "\nsound: " in told, "the predictions alone do not tell"
    assert "mismatch: sa on S_pl r0 s0: A was " in told
    assert "accepted: leaderboard/published/known.zip" in told
    assert "1 changed files in leaderboard/published, 1 refused" in told


def test_what_was_accepted_is_not_left_incomplete(repository, tiny, content, edit, capsys):
    for record in edit.records.values():
        record["job"]["seed"] = 1
    (repository.published / "known.zip").write_bytes(edit.build())
    base = repository.commit()
    (repository.published / "new.zip").write_bytes(content)
    assert main([base, repository.commit()]) == 1
    told = capsys.readouterr().out
    assert (
        "mismatch: constant on S_pl r0 s0: accepted results have only r0 s1, and would be" in told
    )


def test_links_and_what_others_merged_meanwhile(repository, capsys):
    base = repository.commit()
    repository.git("checkout", "-q", "-b", "theirs")
    os.symlink("/etc/passwd", repository.published / "link.zip")
    theirs = repository.commit()
    repository.git("checkout", "-q", "-b", "main", base)
    (repository.published / "merged.zip").write_bytes(b"by others")
    now = repository.commit()
    assert main([now, theirs]) == 1
    told = capsys.readouterr().out
    assert "link.zip: refused: it is not a plain file" in told
    assert "merged.zip" not in told


def test_wrong_usage_and_unknown_commits(repository, capsys):
    repository.commit()
    assert main([]) == 2
    assert main(["nowhere"]) == 2
    assert "git failed" in capsys.readouterr().err
    assert main(["HEAD"]) == 0
