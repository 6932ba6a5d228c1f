"""The transfer figures of docs/results.md, from stored runs: means over realisations.

    bell-bench evaluate --algo picle --algo pt-only --algo mntdp-d --realisations 3
    bell-bench evaluate --algo picle --algo pt-only --sequence S_in --sequence S_sp \\
        --protocol authors-code --realisations 3
    python docs/transfer.py runs
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from bell_bench_leaderboard import read_records, result_rows

SHORT = ("S_pl", "S_minus", "S_plus", "S_out", "S_out_star", "S_out_star_star", "S_in", "S_few",
         "S_sp")  # fmt: skip


def main() -> None:
    folders = [pathlib.Path(name) for name in sys.argv[1:] or ["runs"]]
    rows = [row for row in result_rows(read_records(folders)) if row["status"] == "done"]

    def mean(figure: str, algorithm: str, *sequences: str, protocol: str = "paper") -> float:
        found: list[Any] = [
            row[figure]
            for row in rows
            if (row["algorithm"], row["protocol"]) == (algorithm, protocol)
            and row["sequence"] in sequences
            and row[figure] is not None
        ]
        return sum(found) / len(found) if found else float("nan")

    def tell(what: str, goal: str, *figures: float) -> None:
        print(f"| {what} | {goal} | {'; '.join(f'{figure:+.2f}' for figure in figures)} |")

    print("| what | goal | measured |\n| --- | --- | --- |")
    few = [mean("Tr_last", name, "S_few") for name in ("picle", "mntdp-d")]
    tell("S_few: Tr⁻¹ of picle; picle − mntdp-d", "+25; +15", few[0], few[0] - few[1])
    stars = [mean("Tr_last", name, "S_out_star_star") for name in ("picle", "mntdp-d")]
    tell("S_out_star_star: picle − mntdp-d in Tr⁻¹", "+3", stars[0] - stars[1])
    for name in ("S_minus", "S_out", "S_out_star"):
        tell(f"{name}: Tr⁻¹ of picle", "+8", mean("Tr_last", "picle", name))
    for name, goal in (("S_in", "+8; +5"), ("S_sp", "+8")):
        for protocol in ("authors-code", "paper"):
            both = [mean("Tr_last", a, name, protocol=protocol) for a in ("picle", "pt-only")]
            label = f"{name}, {protocol}: Tr⁻¹ of picle; picle − pt-only"
            tell(label, goal if protocol == "authors-code" else "–", both[0], both[0] - both[1])
    tell(
        "S_pl: A of picle − A of sa", "≥ −0.5", mean("A", "picle", "S_pl") - mean("A", "sa", "S_pl")
    )
    tell("F of picle on all", "0", mean("F", "picle", *SHORT))
    gains = [mean("A", "picle", *SHORT) - mean("A", name, *SHORT) for name in ("sa", "mntdp-d")]
    tell("A over the nine: picle − sa; picle − mntdp-d", "+3; +1", *gains)


if __name__ == "__main__":
    main()
