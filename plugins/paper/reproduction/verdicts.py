"""What a reproduction found: verdicts, tables, files and a page."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bell_bench.files import write_whole
from bell_bench_leaderboard.results import Results
from bell_bench_paper.reproduction.ablations import Found

if TYPE_CHECKING:
    from bell_bench_leaderboard.grids import Grid
    from bell_bench_paper.claims import Evidence, Judged


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """Verdicts on a paper's claims, with what they rest on. Printed, it tells all of it."""

    evidence: Evidence
    parts: tuple[str, ...]
    claims: Sequence[Judged]
    results: Results
    ablations: Sequence[Found]
    planned: int
    """The jobs that the parts have, done or not."""
    seconds: Mapping[str, float]
    """What it took: this command, all commands on this folder, and the jobs by themselves."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per claim: verdict, published and measured value, interval, rule and reasons."""
        from bell_bench_paper.claims.report import claim_row

        return [claim_row(each) for each in self.claims]

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        from bell_bench_paper.claims.report import counts

        found: dict[str, int] = counts(self.claims)
        return found

    @property
    def facts(self) -> dict[str, str]:
        """What to know about it: the paper, the settings, the time it took."""
        from bell_bench.harness.progress import duration

        settings = dict.fromkeys(
            f"{row['suite']} {row['suite_version']} at {row['scale']} on {row['data']}"
            for row in self.evidence.rows
        )
        took = ", ".join(f"{name} {duration(spent)}" for name, spent in self.seconds.items())
        return {
            "paper": self.evidence.book.title,
            "parts": ", ".join(self.parts),
            "runs": "; ".join(settings) or "none",
            "jobs": f"{sum(row['status'] == 'done' for row in self.evidence.rows)} of "
            f"{self.planned} done",
            "time": took,
        }

    def tables(self) -> list[Grid]:
        """The paper's tables with ours, and what another protocol changes."""
        from bell_bench_paper.claims.report import paper_grids, sensitivity_grid

        changes = (sensitivity_grid(self.evidence, part) for part in self.parts)
        return [*paper_grids(self.evidence, self.parts), *filter(None, changes)]

    def page(self, file: str | pathlib.Path) -> None:
        """Everything as one HTML file that needs nothing else."""
        from bell_bench_paper.claims.page import make_claims_page

        text = make_claims_page(self.rows, self.tables(), self.facts)
        write_whole(pathlib.Path(file), text.encode())

    def publish(self, folder: str | pathlib.Path) -> list[pathlib.Path]:
        """Write jobs, ablations, verdicts and the page into a folder; gives the files."""
        from bell_bench_paper.claims.report import to_csv, to_markdown

        place = pathlib.Path(folder)
        content = {
            "claims.csv": to_csv(self.claims),
            "claims.json": json.dumps(
                {**self.facts, "seconds": dict(self.seconds), "verdicts": self.counts,
                 "claims": self.rows}, indent=1, ensure_ascii=False) + "\n",
            "claims.md": to_markdown(self.claims, self.tables(), self.facts),
        }  # fmt: skip
        for name, text in content.items():
            write_whole(place / name, text.encode())
        self.results.to_csv(place / "jobs.csv")
        self.page(place / "page.html")
        rows = [file for found in self.ablations for file in found.write(place)]
        return [*(place / name for name in (*content, "jobs.csv", "page.html")), *rows]

    def __repr__(self) -> str:
        from bell_bench_leaderboard.grids import to_text

        told = [f"{verdict}: {count}" for verdict, count in self.counts.items()]
        facts = [f"{name}: {text}" for name, text in self.facts.items()]
        return "\n\n".join(
            [*map(to_text, self.tables()), self._verdicts(), "\n".join(facts + told)]
        )

    def _verdicts(self) -> str:
        """A line per claim and what decided it, for the terminal."""
        from bell_bench.text import table
        from bell_bench_paper.claims.report import measured, plain, reason

        lines = [
            (each.verdict, each.claim.id, plain(each.published), measured(each.decisive),
             f"{each.claim.says}. {each.claim.source}. Rule: {each.rule}; {reason(each)}")
            for each in self.claims
        ]  # fmt: skip
        return table(lines, ("verdict", "claim", "published", "measured", "the paper says"))
