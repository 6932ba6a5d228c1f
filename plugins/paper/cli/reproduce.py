"""``bell-bench reproduce``: run what the paper's tables need, and judge its claims."""

from __future__ import annotations

import pathlib

import click

from bell_bench.cli.names import complete
from bell_bench.cli.output import check_writable, echo_json
from bell_bench_paper.functions import reproduce

FILE = click.Path(path_type=pathlib.Path, dir_okay=False)
FOLDER = click.Path(path_type=pathlib.Path, file_okay=False)


@click.command("reproduce")
@click.argument("part", default="all", metavar="[bell|ctrl|scale|ablations|all]")
@click.option("--scale", shell_complete=complete("scales"),
              help="quick, standard or paper.  [default: the suites' first, quick]")  # fmt: skip
@click.option("--data", metavar="SOURCE", shell_complete=complete("sources"),
              help="Where images come from; the embedded ones by default.")  # fmt: skip
@click.option("--algo", "algorithms", multiple=True, metavar="NAME",
              shell_complete=complete("algorithms"),
              help="Only this algorithm, and the claims about it alone. Repeatable.")  # fmt: skip
@click.option("--sequence", "sequences", multiple=True, metavar="NAME",
              shell_complete=complete("sequences"),
              help="Only this sequence, and the claims about it alone. Repeatable.")  # fmt: skip
@click.option("--realisation", "realisations", type=int, multiple=True,
              metavar="K",
              help="Realisation K, in place of the claims' own. Repeatable.")  # fmt: skip
@click.option("--jobs", "workers", type=int, metavar="N",
              help="Jobs at once.  [default: one per core]")  # fmt: skip
@click.option("--no-run", is_flag=True, help="Run nothing: judge by what --out and --with have.")
@click.option("--out", type=FOLDER, default="runs", show_default=True,
              help="The folder of results; what is done there is not done again.")  # fmt: skip
@click.option("--with", "given", multiple=True, metavar="RUNS",
              type=click.Path(path_type=pathlib.Path, exists=True),
              help="A submission or folder of results: its jobs count and are not run. "
                   "Repeatable.")  # fmt: skip
@click.option("--claims", "file",
              type=click.Path(path_type=pathlib.Path, exists=True, dir_okay=False),
              help="A JSON file of claims, in place of ours.")  # fmt: skip
@click.option("--html", type=FILE, help="Write a page: one file that needs nothing else.")
@click.option("--publish", type=FOLDER,
              help="Write jobs, verdicts (CSV, JSON, Markdown) and the page there.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.option("--quiet", is_flag=True, help="No progress, only what was found.")
def command(
    part: str,
    scale: str | None,
    data: str | None,
    algorithms: tuple[str, ...],
    sequences: tuple[str, ...],
    realisations: tuple[int, ...],
    workers: int | None,
    no_run: bool,
    out: pathlib.Path,
    given: tuple[pathlib.Path, ...],
    file: pathlib.Path | None,
    html: pathlib.Path | None,
    publish: pathlib.Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run what a part of the paper needs, and say of each claim whether it is reproduced.

    Run the same command again to go on where it stopped. Prints published and measured values side
    by side, then every claim with its interval, rule and verdict. Exit code 0: all jobs done,
    whatever the verdicts; 1: some failed; 2: wrong usage.
    """
    if html is not None:
        check_writable("--html", html)
    if publish is not None:
        check_writable("--publish", publish / "page.html")
    try:
        found = reproduce(
            part,
            scale=scale,
            data=data,
            algorithms=algorithms,
            sequences=sequences,
            realisations=realisations,
            jobs=workers,
            out=out,
            given=given,
            run=not no_run,
            claims=file,
            quiet=quiet,
        )
    except KeyboardInterrupt:
        click.echo("stopped; nothing is lost: the same command goes on from here", err=True)
        return 130
    if as_json:
        echo_json({**found.facts, "verdicts": found.counts, "claims": found.rows})
    else:
        click.echo("\n".join([repr(found), *found.results.faults()]))
    if html is not None:
        found.page(html)
        click.echo(f"wrote {html}", err=True)
    if publish is not None:
        for written in found.publish(publish):
            click.echo(f"wrote {written}", err=True)
    return 1 if found.results.failed else 0
