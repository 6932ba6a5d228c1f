"""The verbs, and how errors are shown. Imports click and nothing heavy of ours."""

from __future__ import annotations

import importlib
import io
import os
import pathlib
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, TextIO

import click
from click.shell_completion import CompletionItem

from bell_bench import __version__
from bell_bench.cli.plugin_verbs import plugin_lines, plugin_verbs
from bell_bench.errors import BellBenchError, UsageError, unknown

PROGRAM = "bell-bench"
DEBUG = "BELL_BENCH_DEBUG"

VERBS: dict[str, tuple[str, str]] = {
    "evaluate": ("bell_bench.cli.evaluate:command", "Run algorithms on sequences."),
    "plan": ("bell_bench.cli.plan:command", "What a run would take, before it runs."),
    "list": ("bell_bench.cli.list:command", "Algorithms, sequences, suites, data, scales."),
    "describe": ("bell_bench.cli.describe:command", "All about one of these, by name."),
    "show": ("bell_bench.cli.show:command", "A run: its jobs, accuracies, costs and faults."),
    "leaderboard": ("bell_bench.cli.leaderboard:command", "Compare algorithms over runs."),
    "data": ("bell_bench.cli.data:command", "Images: list, download, verify, import."),
    "cache": ("bell_bench.cli.cache:command", "Stored path evaluations: size, clear."),
    "plugins": ("bell_bench.cli.plugins:command", "What is installed, and what is broken."),
    "doctor": ("bell_bench.cli.doctor:command", "Check this machine, and say what to do."),
    "completion": ("bell_bench.cli.completion:command", "Print a shell's completion script."),
}
"""Our verbs: the import string of each command, and its line of help."""


class Verbs(click.Group):
    """A group that knows its verbs by name, and imports only the verb that is used. Plugins may add
    verbs; ours take precedence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lines())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in VERBS:
            load = VERBS[cmd_name][0]
        elif cmd_name in (verbs := plugin_verbs()):
            load = verbs[cmd_name].load
        else:
            return None
        module, _, name = load.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-"):
            known = VERBS if args[0] in VERBS else {**VERBS, **plugin_verbs()}
            if args[0] not in known:
                raise click.UsageError(str(unknown("command", args[0], known)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lines().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        verbs = [
            CompletionItem(name, help=help)
            for name, help in self._lines().items()
            if name.startswith(incomplete)
        ]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def _lines(self) -> dict[str, str]:
        """Return every verb with its line of help."""
        return {name: help for name, (_, help) in VERBS.items()} | plugin_lines(VERBS)


@click.command(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `bell-bench list`. `bell-bench COMMAND --help` tells more.",
)
@click.version_option(__version__, prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Which continual-learning algorithm transfers what, and at which cost?"""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped.

    A verb that returns a number chooses the code itself.
    """
    _open_closed_streams()
    _show_warnings_briefly()
    _print_in_any_encoding()
    try:
        result = cli.main(args, prog_name=PROGRAM, standalone_mode=False)
    except Exception as error:
        if os.environ.get(DEBUG) and not isinstance(error, click.ClickException | click.Abort):
            traceback.print_exc()
        return _report(error)
    return result if isinstance(result, int) else 0


def _report(error: Exception) -> int:
    """Print an error for a person, and return the exit code."""
    if isinstance(error, click.Abort):
        click.echo("stopped", err=True)
        return 130
    if isinstance(error, click.UsageError):
        if error.ctx is not None:
            click.echo(error.ctx.get_usage(), err=True)
        click.echo(f"error: {error.format_message()}", err=True)
        return error.exit_code
    if isinstance(error, click.ClickException):
        click.echo(f"error: {error.format_message()}", err=True)
        return error.exit_code
    if isinstance(error, BellBenchError):
        click.echo(f"error: {error}", err=True)
        return 2 if isinstance(error, UsageError) else 1
    if isinstance(error, OSError) and error.errno is not None:
        click.echo(f"error: {error}", err=True)
        return 1
    click.echo(
        f"error: unexpected {type(error).__name__}: {error}\n"
        f"This is a fault of {PROGRAM} or of a plugin. {DEBUG}=1 shows the traceback.",
        err=True,
    )
    return 1


def _show_warnings_briefly() -> None:
    """Print our own warnings in one line each, without the place in our code that raised them."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> Any:
        if category.__name__ == "PluginWarning":  # by name: its module is imported only when needed
            print(f"warning: {message} (see `{PROGRAM} plugins`)", file=sys.stderr)
        elif issubclass(category, UserWarning) and _is_ours(filename):
            print(f"warning: {message}", file=sys.stderr)
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show


def _is_ours(file: str) -> bool:
    """Return whether a file belongs to one of our packages. Any that warns has been imported."""
    packages = (each for name, each in sys.modules.items() if re.fullmatch(r"bell_bench\w*", name))
    folders = (pathlib.Path(each.__file__).parent for each in packages if each.__file__)
    return any(file.startswith(f"{folder}{os.sep}") for folder in folders)


def _open_closed_streams() -> None:
    """Open closed streams to nowhere. A scheduler may close them; the next file to be opened would
    then take a stream's number and receive all that a library prints."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115


def _print_in_any_encoding() -> None:
    """Print a question mark for a character that the output cannot encode, such as Ψ."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
