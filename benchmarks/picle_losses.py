"""Where PICLE loses, and to what: its search, its statistics, or the luck of validation.

python benchmarks/picle_losses.py [RUNS …]

From stored runs alone, by default the published ones of BELL: which problems another algorithm
solves better by more than half a point, whether PICLE had a path of at least the same validation
accuracy (so that only the test points speak against it), and how often the prior of the PT search
changes what the likelihood alone would choose.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from bell_bench_leaderboard import read_records

PUBLISHED = pathlib.Path(__file__).parents[1] / "leaderboard/published/bell-quick-modular.zip"
MARGIN = 0.5
"""Points of test accuracy within which two algorithms count as equal."""
WORST = 6

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """PICLE minus another algorithm on one problem, in points."""

    test: float
    validation: float
    where: str


def best_validation(problem: Mapping[str, Any]) -> float:
    """Of all paths that were evaluated."""
    notes = [note["evaluated"] for note in problem["notes"] if "evaluated" in note]
    return max(float(path["accuracy"]) for path in notes[-1])


def differences(picle: Iterable[Record], other: Mapping[Any, Record]) -> Iterator[Difference]:
    for record in picle:
        job = record["job"]
        against = other[job["sequence"], job["realisation"]]
        for mine, theirs in zip(record["problems"], against["problems"], strict=True):
            yield Difference(
                100 * (mine["accuracy_final"] - theirs["accuracy_final"]),
                100 * (best_validation(mine) - best_validation(theirs)),
                f"{job['sequence']} r{job['realisation']} problem {mine['index'] + 1} "
                f"{mine['name']}",
            )


def choices(picle: Iterable[Record]) -> Iterator[tuple[bool, float, float]]:
    """For every layer of the PT search with a choice: whether the prior changed it, by how much
    the likeliest module leads the second, and by how much their priors differ at most."""
    for record in picle:
        for problem in record["problems"]:
            for note in problem["notes"]:
                for layer in note.get("pt", {}).get("layers", ()):
                    found = layer["candidates"]
                    if len(found) < 2:
                        continue
                    first, second, *_ = sorted(found, key=lambda each: -each["log_likelihood"])
                    priors = [each["log_prior"] for each in found]
                    lead = first["log_likelihood"] - second["log_likelihood"]
                    yield layer["chosen"] != first["module"], lead, max(priors) - min(priors)


def main(runs: list[pathlib.Path]) -> None:
    records = read_records(runs)
    by_name: dict[str, dict[Any, Record]] = {}
    for record in records:
        job = record["job"]
        if not any("evaluated" in note for note in record["problems"][0]["notes"]):
            continue  # not a search over paths
        by_name.setdefault(job["algorithm"], {})[job["sequence"], job["realisation"]] = record
    picle = list(by_name["picle"].values())
    for name in sorted(by_name.keys() - {"picle"}):
        found = sorted(differences(picle, by_name[name]), key=lambda each: each.test)
        worse = [each for each in found if each.test < -MARGIN]
        better = sum(each.test > MARGIN for each in found)
        luck = sum(each.validation >= 0 for each in worse)
        print(f"{name}: better on {better} of {len(found)} problems, worse on {len(worse)}, on "
              f"{luck} of these with a path at least as good on validation")  # fmt: skip
        for each in worse[:WORST]:
            print(f"  {each.test:+6.2f} test {each.validation:+6.2f} validation  {each.where}")
    changed, leads, priors = zip(*choices(picle), strict=True)
    print(f"PT search: {len(changed)} choices of a module, the prior changed {sum(changed)}; "
          f"the likeliest leads by {median(leads):,.0f} nats, priors differ by at most "
          f"{median(priors):,.0f} (medians)")  # fmt: skip


if __name__ == "__main__":
    main([pathlib.Path(each) for each in sys.argv[1:]] or [PUBLISHED])
