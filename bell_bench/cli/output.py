"""The output of verbs: JSON on standard output, and files that are checked beforehand."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import click

from bell_bench.errors import UsageError


def echo_json(content: Any) -> None:
    """Print JSON in a form that people can read."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))


def check_writable(option: str, file: pathlib.Path) -> None:
    """Make the file's folder, and raise UsageError if the file could not be written there later."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {file}: its folder cannot be made: {error}") from error
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"{option} {file}: its folder cannot be written to: choose another file")
