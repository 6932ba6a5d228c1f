"""``bell-bench leaderboard``: stored runs as tables, figures or a page."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from bell_bench.cli.output import echo_json
from bell_bench.errors import BellBenchError, UsageError

FIGURES = ("resources",)
PICTURES = (".png", ".pdf", ".svg")
FILE = click.Path(path_type=pathlib.Path, dir_okay=False)


class _WithFigures(click.Command):
    """A command whose ``--figure NAME`` may leave out the file: it is NAME.png then."""

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
    help="resources: FLOPs and peak memory per problem of the longest sequence.",
)
@click.option("--baseline", metavar="ALGO", help="Add paired differences in A to this one.")
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
    from bell_bench.results import current_versions
    from bell_bench_leaderboard import result_rows
    from bell_bench_leaderboard.boards import boards
    from bell_bench_leaderboard.grids import to_text
    from bell_bench_leaderboard.properties import read_rules

    records = _read(runs or (pathlib.Path("runs"),))
    rows = result_rows(records)
    found = boards(rows)
    _check_baseline(baseline, [name for board in found for name in board.algorithms])
    judged = read_rules(rules, tuned)
    if as_json:
        echo_json(rows)
    else:
        grids = [_table(board, form or "summary", baseline) for board in found]
        click.echo("\n\n".join(map(to_text, grids)))
        _echo_more(found, judged if properties else None, costs=costs)
        _echo_versions(found)
    if csv_file is not None:
        from bell_bench_leaderboard import to_csv

        wide = form == "wide"
        _write(csv_file, _rendered(found, "csv", baseline) if wide else to_csv(rows))
    for file, name in ((markdown, "markdown"), (latex, "latex")):
        if file is not None:
            _write(file, _rendered(found, name, baseline, form or "wide"))
    if html is not None:
        from bell_bench_leaderboard.page import make_page

        _write(html, make_page(records, judged, current=current_versions(found)))
    if picture is not None:
        _draw_picture(rows, picture)
    if figure is not None:
        _draw_figure(records, *figure)
    return 0


def _read(folders: Sequence[pathlib.Path]) -> list[Mapping[str, Any]]:
    """All records; what cannot be read is told in a line each."""
    from bell_bench_leaderboard import read_records

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        records: list[Mapping[str, Any]] = read_records(folders)
    for warning in told:
        click.echo(f"warning: {warning.message}", err=True)
    if not records:
        asked = ", ".join(map(str, folders))
        raise UsageError(f"no results in {asked}: run `bell-bench evaluate --algo sa` first")
    return records


def _check_baseline(asked: str | None, known: Sequence[str]) -> None:
    from bell_bench.errors import unknown

    if asked is not None and asked not in known:
        raise unknown("algorithm of these runs", asked, known)


def _table(board: Any, form: str, baseline: str | None) -> Any:
    from bell_bench_leaderboard.tables import long_grid, summary_grid, wide_grid

    if form == "long":
        return long_grid(board)
    make: Callable[..., Any] = wide_grid if form == "wide" else summary_grid
    return make(board, baseline=baseline)


def _rendered(found: Sequence[Any], name: str, baseline: str | None, form: str = "wide") -> str:
    """The tables of all boards in one format."""
    from bell_bench_leaderboard import grids

    if name == "csv" and len(found) > 1:
        raise UsageError(
            "these runs differ in suite, version, scale, data or protocol: a wide CSV holds one "
            "such setting. Give them apart, or use the long form"
        )
    render = {"csv": grids.to_csv, "markdown": grids.to_markdown, "latex": grids.to_latex}[name]
    return "\n".join(render(_table(board, form, baseline)) for board in found)


def _echo_more(found: Sequence[Any], rules: Any | None, *, costs: bool) -> None:
    from bell_bench_leaderboard.grids import to_text

    if costs:
        from bell_bench_leaderboard.costs import budget_grid, cost_grid

        for board in found:
            for grid in (cost_grid(board), budget_grid(board)):
                click.echo("\n" + to_text(grid))
    if rules is not None:
        from bell_bench_leaderboard.properties import property_grids

        for board in found:
            for grid in property_grids(board, rules):
                click.echo("\n" + to_text(grid))


def _echo_versions(found: Sequence[Any]) -> None:
    """Say which results are of another version than the installed suite."""
    from bell_bench.results import current_versions

    current = current_versions(found)
    kinds = {(board.settings["suite"], board.settings["suite_version"]) for board in found}
    for suite, version in sorted(kinds):
        if current.get(suite, version) != version:
            told = f"note: {suite} is at version {current[suite]}; results of version {version} "
            click.echo(f"{told}are compared with each other only", err=True)


def _write(file: pathlib.Path, text: str) -> None:
    from bell_bench.files import write_whole

    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise BellBenchError(f"{file} cannot be written: {error}") from error
    click.echo(f"wrote {file}", err=True)


def _draw_picture(rows: Sequence[Mapping[str, Any]], file: pathlib.Path) -> None:
    from bell_bench_leaderboard.picture import draw_leaderboard
    from bell_bench_leaderboard.tables import SETTINGS

    if len({tuple(row[name] for name in SETTINGS) for row in rows}) > 1:
        raise UsageError("these runs differ in suite, scale, data or protocol: draw them apart")
    draw_leaderboard(rows, file)
    click.echo(f"wrote {file}", err=True)


def _draw_figure(records: Sequence[Mapping[str, Any]], name: str, file: pathlib.Path) -> None:
    from bell_bench_leaderboard.resources_picture import draw_resources

    sequence = {"resources": draw_resources}[name](records, file)
    click.echo(f"wrote {file}: {name} on {sequence}", err=True)
