"""``bell-bench ablate``: the paper's two ablations of PICLE."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import click

from bell_bench.cli.output import check_writable
from bell_bench.harness.progress import steps
from bell_bench.pictures import picture_format
from bell_bench_paper.functions import Ablation, ablate_density, ablate_nt_search


def _options(seeds: int, prefix: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of both ablations."""
    file = click.Path(path_type=pathlib.Path, dir_okay=False)
    folder = click.Path(path_type=pathlib.Path, file_okay=False)
    options = (
        click.option(
            "--scale", default="quick", show_default=True, help="quick, standard or paper."
        ),
        click.option("--data", default="glyphs", show_default=True, help="glyphs or images."),
        click.option(
            "--seeds",
            type=int,
            default=seeds,
            show_default=True,
            metavar="N",
            help="Repeat with N seeds.",
        ),
        click.option(
            "--out", type=folder, default="runs", show_default=True, help="The folder of results."
        ),
        click.option(
            "--csv", "csv_file", type=file, help=f"The table.  [default: OUT/{prefix}.csv]"
        ),
        click.option(
            "--plot", "plot_file", type=file, help=f"The figure.  [default: OUT/{prefix}.png]"
        ),
    )

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@click.group("ablate")
def command() -> None:
    """Measure PICLE's parts against alternatives, as the paper's appendix does."""


@command.command("density")
@_options(seeds=5, prefix="ablate-density")
def density(
    scale: str,
    data: str,
    seeds: int,
    out: pathlib.Path,
    csv_file: pathlib.Path | None,
    plot_file: pathlib.Path | None,
) -> None:
    """Which Gaussian of N images knows its own domain among nine?

    Prints the average position of the true domain (0: always first) by method and N, with the
    standard error over seeds. N is at most the number of the scale's images; --scale paper has
    all of them.
    """
    csv_file = csv_file or out / "ablate-density.csv"
    plot_file = plot_file or out / "ablate-density.png"
    _check(csv_file, plot_file)
    with steps() as tell:
        found = ablate_density(scale=scale, data=data, seeds=seeds, plot=plot_file, tell=tell)
    _report(found, csv_file, plot_file)


@command.command("nt-search")
@_options(seeds=10, prefix="ablate-nt-search")
@click.option(
    "--realisations",
    type=int,
    default=5,
    show_default=True,
    metavar="N",
    help="The first N realisations of S_in_plus.",
)
@click.option("--protocol", default="paper", show_default=True, help="paper or authors-code.")
def nt_search(
    scale: str,
    data: str,
    seeds: int,
    out: pathlib.Path,
    csv_file: pathlib.Path | None,
    plot_file: pathlib.Path | None,
    realisations: int,
    protocol: str,
) -> None:
    """How soon does the search for latent transfer find the best suffix?

    On S_in_plus, all paths that a search may ask for are trained once, through the evaluation
    store that `evaluate` uses: run the same command again to go on where it stopped. Every
    search is then replayed on what was found.
    """
    csv_file = csv_file or out / "ablate-nt-search.csv"
    plot_file = plot_file or out / "ablate-nt-search.png"
    _check(csv_file, plot_file)
    with steps() as tell:
        found = ablate_nt_search(
            realisations=realisations,
            scale=scale,
            data=data,
            protocol=protocol,
            seeds=seeds,
            out=out,
            plot=plot_file,
            tell=tell,
        )
    _report(found, csv_file, plot_file)


def _check(csv_file: pathlib.Path, plot_file: pathlib.Path) -> None:
    """Check before the work starts what would make it fail at the end."""
    check_writable("--csv", csv_file)
    check_writable("--plot", plot_file)
    picture_format(plot_file)


def _report(found: Ablation, csv_file: pathlib.Path, plot_file: pathlib.Path) -> None:
    click.echo(found)
    tables = ", ".join(map(str, found.to_csv(csv_file)))
    click.echo(f"wrote {tables} and {plot_file}")
