"""Paths of somebody's machine are found and cut; what only looks like one stays."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bell_bench.records.packed.machine_paths import local_paths, shorten


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("file:/home/me/algo/mine.py:Mine", "file:mine.py:Mine"),
        ("/home/me/mine.py sha256:0123", "mine.py sha256:0123"),
        ("No such file or directory: '/data/me/x.npz'", "No such file or directory: 'x.npz'"),
        ("see file:///home/me/x", "see x"),
        ("~/secret/x.txt", "x.txt"),
        (r"C:\Users\me\x.py", "x.py"),
        (r"cannot open 'C:\\Users\\me\\x.py'", "cannot open 'x.py'"),
        ("C:/Users/me/x.py", "C:x.py"),
        ("--out=/scratch/me/", "--out=me"),
        ("in /a/b and /c/d.", "in b and d."),
    ],
)
def test_paths_are_cut_to_their_last_part(text, cut):
    assert list(local_paths([text]))
    assert shorten({"a": [text]}) == ({"a": [cut]}, ["a"])
    assert not list(local_paths([cut]))


@pytest.mark.parametrize(
    "text",
    ["emnist_1/XOR perm1", "https://arxiv.org/abs/2306.06545", "and/or", "1/2", "a / b / c",
     "3 /4", "10 points/s", "Linux-6.18-x86_64-with-glibc2.36", "bell-bench:sa", "../x", ""],
)  # fmt: skip
def test_what_is_no_path_stays(text):
    assert not list(local_paths([text]))
    assert shorten([text]) == ([text], [])


def test_folders_with_spaces_in_their_names(tmp_path, monkeypatch):
    folder = tmp_path / "my own files"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert shorten([f"{folder}/x.py is gone"]) == (["x.py is gone"], [""])


def test_keys_are_looked_at_too():
    assert shorten({"/home/me/x": 1})[0] == {"x": 1}
    assert list(local_paths({"/home/me/x": 1}))


def test_one_without_a_home_can_submit(monkeypatch):
    """As in a container, by a number that no user has."""
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.delenv("HOME")
    assert shorten({"x": "/home/me/x"})[0] == {"x": "x"}


@given(st.lists(st.from_regex(r"[A-Za-z0-9_.+-]{1,8}", fullmatch=True), min_size=2, max_size=5))
def test_no_folder_survives(parts):
    path = str(pathlib.PurePosixPath("/", *parts))
    (cut,), _ = shorten([f"cannot read {path}: gone"])
    assert "/" not in cut or path.count("/") < 2
