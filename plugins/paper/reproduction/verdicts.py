"""The results of a reproduction: verdicts, tables, files and a page."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bell_bench.files import write_whole
from bell_bench.harness.progress import duration
from bell_bench.text import table
from bell_bench_leaderboard.grids import Grid, to_text
from bell_bench_leaderboard.results import Results
from bell_bench_paper.claims import Evidence, Judged, report
from bell_bench_paper.claims.page import make_claims_page
from bell_bench_paper.reproduction.ablations import StoredAblation


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """Verdicts on a paper's claims, and what they are based on. Printed, it shows all of it."""

    evidence: Evidence
    parts: tuple[str, ...]
    claims: Sequence[Judged]
    results: Results
    ablations: Sequence[StoredAblation]
    planned: int
    """How many jobs the parts have, done or not."""
    seconds: Mapping[str, float]
    """The time of this command, of all commands on this folder, and of the jobs by themselves."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per claim: verdict, published and measured value, interval, rule and reasons."""
        return [report.claim_row(each) for each in self.claims]

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        return report.counts(self.claims)

    @property
    def facts(self) -> dict[str, str]:
        """What to know about the reproduction: the paper, the settings and the time it took."""
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
        """Return the paper's tables with our figures, and a table of what another protocol
        changes."""
        changes = (report.sensitivity_grid(self.evidence, part) for part in self.parts)
        return [*report.paper_grids(self.evidence, self.parts), *filter(None, changes)]

    def page(self, file: str | pathlib.Path) -> None:
        """Write everything as one HTML file that needs nothing else."""
        text = make_claims_page(self.rows, self.tables(), self.facts)
        write_whole(pathlib.Path(file), text.encode())

    def publish(self, folder: str | pathlib.Path) -> list[pathlib.Path]:
        """Write jobs, ablations, verdicts and the page into a folder; return the files."""
        place = pathlib.Path(folder)
        content = {
            "claims.csv": report.to_csv(self.claims),
            "claims.json": json.dumps(
                {**self.facts, "seconds": dict(self.seconds), "verdicts": self.counts,
                 "claims": self.rows}, indent=1, ensure_ascii=False) + "\n",
            "claims.md": report.to_markdown(self.claims, self.tables(), self.facts),
        }  # fmt: skip
        for name, text in content.items():
            write_whole(place / name, text.encode())
        self.results.to_csv(place / "jobs.csv")
        self.page(place / "page.html")
        rows = [file for found in self.ablations for file in found.write(place)]
        return [*(place / name for name in (*content, "jobs.csv", "page.html")), *rows]

    def __repr__(self) -> str:
        counted = [f"{verdict}: {count}" for verdict, count in self.counts.items()]
        facts = [f"{name}: {text}" for name, text in self.facts.items()]
        return "\n\n".join(
            [*map(to_text, self.tables()), self._verdicts(), "\n".join(facts + counted)]
        )

    def _verdicts(self) -> str:
        """Return a table for the terminal, with a line per claim and what decided it."""
        lines = [
            (each.verdict, each.claim.id, report.plain(each.published),
             report.measured(each.decisive),
             f"{each.claim.says}. {each.claim.source}. Rule: {each.rule}; {report.reason(each)}")
            for each in self.claims
        ]  # fmt: skip
        return table(lines, ("verdict", "claim", "published", "measured", "the paper says"))
