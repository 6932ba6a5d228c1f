"""JSON on standard output, as every verb writes it."""

from __future__ import annotations

import json
from typing import Any

import click


def echo_json(content: Any) -> None:
    """Print JSON as people can read it."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))
