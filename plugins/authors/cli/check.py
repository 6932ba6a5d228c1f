"""``bell-bench check``: does an algorithm keep every contract?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bell_bench.cli.names import complete
from bell_bench.cli.output import echo_json
from bell_bench.text import paragraph

if TYPE_CHECKING:
    from bell_bench_authors.testing import Finding


@click.command("check")
@click.argument("algorithm", shell_complete=complete("algorithms"))
@click.option(
    "--contract", "names", multiple=True, metavar="NAME", help="Only this contract. Repeatable."
)
@click.option(
    "--explain",
    metavar="NAME",
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, name: explain(ctx, name),
    help="What a contract asks for; checks no algorithm.",
)
@click.option("--json", "as_json", is_flag=True, help="A list of findings.")
def command(algorithm: str, names: tuple[str, ...], as_json: bool) -> int:
    """Check ALGORITHM, a name or ./file.py:Class, against every contract, on tiny problems.

    Exits with 1 if a contract is broken.
    """
    import torch

    from bell_bench_authors.testing import CONTRACTS, examine

    torch.set_num_threads(1)
    found: list[Finding] = []
    for finding in examine(algorithm, names or CONTRACTS):
        found.append(finding)
        if not as_json:
            tell(finding)
    if as_json:
        echo_json([finding.facts for finding in found])
    broken = sum(finding.status in ("broken", "not run") for finding in found)
    if not as_json:
        seconds = sum(finding.seconds for finding in found)
        click.echo(
            f"\n{len(found) - broken} of {len(found)} contracts are kept or do not apply "
            f"({seconds:.0f} s)"
        )
    return 1 if broken else 0


def explain(context: click.Context, name: str | None) -> None:
    """Print the contract that was named and exit; do nothing if none was."""
    if name is None:
        return
    from bell_bench_authors.testing import explanation

    click.echo("\n\n".join(map(paragraph, explanation(name))))
    context.exit()


def tell(finding: Finding) -> None:
    """Print a finding; if the contract is broken, print the fault and the contract's text."""
    click.echo(f"{finding.status:14}  {finding.contract}")
    if finding.detail:
        click.echo(paragraph(finding.detail, indent=16))
    if finding.status == "broken":
        click.echo(paragraph(f"The contract: {finding.text} See {finding.where}", indent=16))
