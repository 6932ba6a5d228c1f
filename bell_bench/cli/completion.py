"""``bell-bench completion``: the script that makes a shell complete our verbs and names."""

from __future__ import annotations

import os
import pathlib

import click
from click.shell_completion import get_completion_class

from bell_bench.cli.verbs import PROGRAM, cli
from bell_bench.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(SHELLS))
def command(shell: str | None) -> None:
    """Print the completion script for SHELL (default: yours).

    \b
    bash:  bell-bench completion bash >> ~/.bashrc
    zsh:   bell-bench completion zsh >> ~/.zshrc
    fish:  bell-bench completion fish > ~/.config/fish/completions/bell-bench.fish
    """
    shell = shell or pathlib.Path(os.environ.get("SHELL", "")).name
    completion = get_completion_class(shell) if shell in SHELLS else None
    if completion is None:
        raise UsageError(f"say which shell: {', '.join(SHELLS)}")
    click.echo(completion(cli, {}, PROGRAM, "_BELL_BENCH_COMPLETE").source())
