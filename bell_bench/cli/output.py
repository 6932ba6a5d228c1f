"""What verbs write: JSON on standard output, and files that are checked before the work."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import click

from bell_bench.errors import UsageError


def echo_json(content: Any) -> None:
    """Print JSON as people can read it."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))


def check_writable(option: str, file: pathlib.Path) -> None:
    """Refuse a file that could not be written when the work for it is done; makes its folder."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {file}: its folder cannot be made: {error}") from error
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"{option} {file}: its folder cannot be written to")
