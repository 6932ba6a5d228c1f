"""``bell-bench leaderboard``: stored runs as tables, figures or a page."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from bell_bench.api import leaderboard
from bell_bench.cli.output import echo_json
from bell_bench.errors import UsageError
from bell_bench.files import write_whole

if TYPE_CHECKING:
    from bell_bench_leaderboard.results import Results

FIGURES = ("resources",)
PICTURES = (".png", ".pdf", ".svg")
FILE = click.Path(path_type=pathlib.Path, dir_okay=False)


class _WithFigures(click.Command):
    """A command whose option ``--figure NAME`` may omit the file, which is then NAME.png."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        complete: list[str] = []
        for place, argument in enumerate(args):
            complete.append(argument)
            follows = args[place + 1] if place + 1 < len(args) else ""
            named = place > 0 and args[place - 1] == "--figure"
            if named and not follows.lower().endswith(PICTURES):
                complete.append(f"{argument}.png")
        return super().parse_args(ctx, complete)


@click.command(cls=_WithFigures)
@click.argument("runs", nargs=-1, type=click.Path(path_type=pathlib.Path, exists=True))
@click.option("--wide", "form", flag_value="wide", help="Sequences × algorithms, as in the paper.")
@click.option("--long", "form", flag_value="long", help="One row per job.")
@click.option("--csv", "csv_file", type=FILE, help="Write CSV (long, unless --wide).")
@click.option("--markdown", type=FILE, help="Write Markdown (wide, unless --long).")
@click.option("--latex", type=FILE, help="Write a LaTeX tabular (wide, unless --long).")
@click.option("--html", type=FILE, help="Write a page: one file that needs nothing else.")
@click.option("--picture", type=FILE, help="Draw accuracy and transfer to this PNG.")
@click.option(
    "--figure",
    nargs=2,
    type=(click.Choice(FIGURES), FILE),
    metavar="NAME [FILE]",
    help="resources: FLOPs and peak memory per problem of each long sequence, or the longest.",
)
@click.option(
    "--baseline",
    metavar="ALGO",
    help="Add paired differences to this one: in A, with --wide in every score.",
)
@click.option("--costs", is_flag=True, help="Add costs, Pareto fronts and score at equal budget.")
@click.option("--properties", is_flag=True, help="Add the table of observed properties.")
@click.option("--rules", type=click.Path(path_type=pathlib.Path, exists=True, dir_okay=False),
              help="A JSON file of rules for the properties, in place of ours.")  # fmt: skip
@click.option("--rule", "tuned", multiple=True, metavar="PROPERTY.FIELD=VALUE",
              help="Change one rule, e.g. latent.threshold=2. Repeatable.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The rows as JSON.")
def command(
    runs: tuple[pathlib.Path, ...],
    form: str | None,
    csv_file: pathlib.Path | None,
    markdown: pathlib.Path | None,
    latex: pathlib.Path | None,
    html: pathlib.Path | None,
    picture: pathlib.Path | None,
    figure: tuple[str, pathlib.Path] | None,
    baseline: str | None,
    costs: bool,
    properties: bool,
    rules: pathlib.Path | None,
    tuned: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compare algorithms over RUNS, folders of results (default: ./runs).

    Every accuracy is recomputed from the stored predictions. Only runs of equal suite, version,
    scale, data and protocol are compared; others are shown apart.
    """
    results = _read(runs or (pathlib.Path("runs"),))
    results.check_rules(rules, tuned)  # a wrong rule is reported before anything is shown

    def written(form: str, markup: str) -> Callable[[pathlib.Path], None]:
        text = results.table(form, markup=markup, baseline=baseline)
        return lambda file: write_whole(file, text.encode())

    if as_json:
        echo_json(results.rows)
    else:
        told = [results.table(form or "summary", baseline=baseline)]
        told += [results.costs()] if costs else []
        told += [results.properties(rules, tuned)] if properties else []
        click.echo("\n\n".join(told))
        _echo_versions(results)
    if csv_file is not None:
        _make(csv_file, written("wide", "csv") if form == "wide" else results.to_csv)
    if markdown is not None:
        _make(markdown, written(form or "wide", "markdown"))
    if latex is not None:
        _make(latex, written(form or "wide", "latex"))
    if html is not None:
        _make(html, lambda file: results.page(file, rules=rules, tuned=tuned))
    if picture is not None:
        _make(picture, results.draw)
    if figure is not None:
        _make(figure[1], results.draw_resources, f": {figure[0]} on ")
    return 0


def _read(folders: Sequence[pathlib.Path]) -> Results:
    """Return all results; print a line of warning for each record that cannot be read."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results = leaderboard(*folders)
    for warning in told:
        click.echo(f"warning: {warning.message}", err=True)
    if not results.records:
        asked = ", ".join(map(str, folders))
        raise UsageError(f"no results in {asked}: run `bell-bench evaluate --algo sa` first")
    return results


def _make(file: pathlib.Path, make: Callable[[pathlib.Path], str | None], about: str = "") -> None:
    """Make a file and print its name, followed by the text that ``make`` returns."""
    told = make(file)
    click.echo(f"wrote {file}{about}{told or ''}", err=True)


def _echo_versions(results: Results) -> None:
    """Print which results are of another version than the installed suite."""
    current = results.current_versions
    kinds = {(row["suite"], row["suite_version"]) for row in results.rows}
    for suite, version in sorted(kinds):
        if current.get(suite, version) != version:
            told = f"note: {suite} is at version {current[suite]}; results of version {version} "
            click.echo(f"{told}are compared with each other only", err=True)
