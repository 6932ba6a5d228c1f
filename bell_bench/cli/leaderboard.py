"""``bell-bench leaderboard``: stored runs as a table or CSV."""

from __future__ import annotations

import pathlib

import click

from bell_bench.cli.output import echo_json
from bell_bench.errors import UsageError


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=pathlib.Path, exists=True))
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    help="Write one row per job to this file.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    help="Draw accuracy and transfer, sequences by algorithms, to this PNG.",
)
@click.option("--json", "as_json", is_flag=True, help="The rows as JSON.")
def command(
    runs: tuple[pathlib.Path, ...],
    csv_file: pathlib.Path | None,
    picture: pathlib.Path | None,
    as_json: bool,
) -> int:
    """Compare algorithms over RUNS, folders of results (default: ./runs)."""
    from bell_bench.files import write_whole
    from bell_bench_leaderboard import read_records, result_rows, summary_table, to_csv
    from bell_bench_leaderboard.tables import SETTINGS

    folders = runs or (pathlib.Path("runs"),)
    rows = result_rows(read_records(folders))
    if not rows:
        asked = ", ".join(map(str, folders))
        raise UsageError(f"no results in {asked}: run `bell-bench evaluate --algo sa` first")
    if as_json:
        echo_json(rows)
    else:
        click.echo(summary_table(rows))
    if csv_file is not None:
        write_whole(csv_file, to_csv(rows).encode())
        click.echo(f"wrote {csv_file}", err=True)
    if picture is not None:
        from bell_bench_leaderboard.picture import draw_leaderboard

        if len({tuple(row[name] for name in SETTINGS) for row in rows}) > 1:
            raise UsageError("these runs differ in suite, scale, data or protocol: draw them apart")
        draw_leaderboard(rows, picture)
        click.echo(f"wrote {picture}", err=True)
    return 0
