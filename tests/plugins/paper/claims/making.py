"""A small book of claims, and evidence made by hand."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from bell_bench_paper.claims import Book, Evidence, read_book
from tests.leaderboard.making import read, record, series

ALGORITHMS = ["sa", "picle", "mntdp-d"]
SETTINGS = {"suite": "bell", "part": "bell", "source": "Table 1", "says": "so it is"}


def content(*claims: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A file of claims about S_pl and S_in, three realisations, and about S_long, one."""
    runs = [
        {"suite": "bell", "protocol": "paper", "sequences": ["S_pl", "S_in"],
         "algorithms": ALGORITHMS, "realisations": [0, 1, 2]},
        {"suite": "bell", "protocol": "authors-code", "sequences": ["S_in"],
         "algorithms": ALGORITHMS, "realisations": [0, 1, 2]},
    ]  # fmt: skip
    long = [{"suite": "bell", "protocol": "paper", "sequences": ["S_long"],
             "algorithms": ALGORITHMS, "realisations": [0]}]  # fmt: skip
    table = {"suite": "bell", "figure": "A", "source": "Table 1", "of": ["sa", "picle"],
             "rows": {"S_pl": [70.0, 80.0], "S_in": [60.0, None]},
             "average": [65.0, 78.0]}  # fmt: skip
    return {
        "title": "a paper",
        "groups": {"both": ["S_pl", "S_in"]},
        "parts": {"bell": {"runs": runs}, "scale": {"runs": long},
                  "ablations": {"ablations": ["density", "nt-search"]}},
        "tables": [table],
        "claims": [{**SETTINGS, "id": f"claim-{place}", **claim}
                   for place, claim in enumerate(claims)],
        **more,
    }  # fmt: skip


def book(folder: pathlib.Path, *claims: dict[str, Any], **more: Any) -> Book:
    file = folder / "claims.json"
    file.write_text(json.dumps(content(*claims, **more)))
    return read_book(file)


def three(algorithm: str, *scores: float, **job: Any) -> list[dict[str, Any]]:
    """Records of S_pl, or of the sequence named, each of one problem; scores in per cent."""
    return series(algorithm, [score / 100 for score in scores], **job)


def long(algorithm: str, accuracy: float = 0.5, *, growing: float = 1.0, **job: Any) -> Any:
    """A record of thirty problems, the last ten as many times as dear as the others."""
    found = record(algorithm, [accuracy + 0.001 * (i % 3) for i in range(30)], sequence="S_long",
                   **job)  # fmt: skip
    for place, problem in enumerate(found["problems"]):
        factor = growing if place >= 20 else 1.0
        jitter = 1 + 0.01 * (place % 3)
        for name in ("train_flops", "peak_memory_bytes"):
            problem["resources"][name] = 1e9 * factor * (jitter if algorithm != "sa" else 1)
    return found


def evidence(book: Book, *records: Any, **ablations: Any) -> Evidence:
    return Evidence(
        book, map(read, records), {name.replace("_", "-"): rows for name, rows in ablations.items()}
    )
