"""The page's data: boards with their cells, averages, costs and verdicts, and every job."""

from __future__ import annotations

import json
import math
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bell_bench import records as types
from bell_bench.records import ReadRecord as Record
from bell_bench.records import SolvedProblem
from bell_bench_leaderboard.boards import Board, boards
from bell_bench_leaderboard.bootstrap import MeanEstimate
from bell_bench_leaderboard.compare import mean, mean_of_complete, ranks
from bell_bench_leaderboard.costs import COSTS, fronts
from bell_bench_leaderboard.derived import BUDGETS, SPENT, at_budget
from bell_bench_leaderboard.properties import PropertyVerdict, Rule, verdicts
from bell_bench_leaderboard.rows import printable, result_rows
from bell_bench_leaderboard.tables import notes

SCORES = tuple(score for score in types.SCORES if score.shown)
FIGURES = (*(score.name for score in SCORES), "A_gain", *COSTS, "flop_coverage")
"""The figures of tables and charts, each with an interval where there is one."""
JOB = ("realisation", "seed", "status", "reason", "check", *FIGURES)

Content = dict[str, Any]


def page_contents(
    records: Sequence[Record], rules: Sequence[Rule], current: Mapping[str, str]
) -> Content:
    """Return everything as plain JSON. An environment is listed once, however many jobs share
    it."""
    rows = [{**row, "job": place} for place, row in enumerate(result_rows(records))]
    environments: dict[str, int] = {}
    jobs = [_job(record, row, environments) for record, row in zip(records, rows, strict=True)]
    # the page opens with the largest board
    found = sorted(boards(rows), key=lambda board: -len(board.rows))
    for board in found:
        for name, row in board:
            jobs[row["job"]]["label"] = name
    return {
        "boards": [_board(board, rules, current) for board in found],
        "jobs": jobs,
        "environments": [json.loads(text) for text in environments],
        "budgets": BUDGETS,
        "scores": {score.name: _score(score) for score in SCORES},
        "costs": {cost.name: _cost(cost) for cost in types.COSTS if cost.name in FIGURES},
    }


def _score(score: types.Score) -> Content:
    """Return how a metric is named, explained and printed."""
    return {
        "title": score.title,
        "says": score.says,
        "signed": score.signed,
        "against_standalone": score.against_standalone,
        "digits": 2,
    }


def _cost(cost: types.Cost) -> Content:
    """Return how a cost is named, explained and printed."""
    digits = re.search(r"\.(\d+)", cost.form)
    kind = "significant" if "g" in cost.form else "digits"
    percent = "%" in cost.form
    return {
        "title": cost.title,
        "says": cost.says,
        kind: int(digits[1]) if digits else 0,
        "scale": 100 * cost.unit if percent else cost.unit,
        "unit": "%" if percent else "",
        "traded": cost.traded,
        "spent": cost.spent,
    }


def _job(record: Record, row: Mapping[str, Any], environments: dict[str, int]) -> Content:
    """Return one job: its figures, where they come from, and its problems."""
    environment = json.dumps(record.environment.to_json(), sort_keys=True)
    return {
        **{name: _plain(row.get(name)) for name in JOB},
        "settings": record.job.to_json(),
        "place": pathlib.PurePath(str(record.place or "")).name,
        "environment": environments.setdefault(environment, len(environments)),
        "matrix": [[round(each, 4) for each in line] for line in record.checked_matrix],
        "problems": [_problem(problem) for problem in record.problems],
    }


def _problem(problem: SolvedProblem) -> Content:
    return {
        "name": problem.name,
        "learnt": _plain(problem.accuracy_learnt),
        "final": _plain(problem.accuracy_final),
        "path": problem.path,
        "train_flops": _plain(problem.resources.train_flops),
    }


def _board(board: Board, rules: Sequence[Rule], current: Mapping[str, str]) -> Content:
    suite, version = board.settings["suite"], board.settings["suite_version"]
    newer = current.get(suite, version)
    return {
        "title": board.title,
        "older": "" if newer == version else f"{suite} is at version {printable(newer)} now",
        "sequences": board.sequences,
        "averaged": board.averaged,
        "algorithms": board.algorithms,
        "standalone": board.standalone,
        "notes": notes(board),
        "cells": [_cell(board, *place) for place in board.cells],
        "averages": _averages(board),
        "fronts": fronts(board),
        "budgets": {cost.name: _budgets(board, cost.name) for cost in SPENT},
        "properties": _properties(verdicts(board, rules)),
    }


def _cell(board: Board, sequence: str, name: str) -> Content:
    cell = board.cells[sequence, name]
    return {
        "sequence": sequence,
        "algorithm": name,
        "status": cell.status,
        "n": f"{cell.done}/{len(cell.expected)}" if cell.status else str(cell.done),
        "jobs": [row["job"] for row in cell.jobs.values()],
        **{figure: _numbers(mean(board, figure, name, [sequence])) for figure in FIGURES},
    }


def _averages(board: Board) -> list[Content]:
    order = ranks(board)
    return [
        {
            "algorithm": name,
            "rank": str(order[name]) if name in order else "",
            "complete": sum(not board.cells[each, name].status for each in board.averaged),
            # means over the complete sequences; the page says how many there are
            **{figure: _numbers(mean_of_complete(board, figure, name)[0]) for figure in FIGURES},
        }
        for name in board.algorithms
    ]


def _budgets(board: Board, spent: str) -> dict[str, list[list[float | None] | None]]:
    return {
        name: [_numbers(mean(board, at_budget(spent, multiple), name)) for multiple in BUDGETS]
        for name in board.algorithms
    }


def _properties(found: Sequence[PropertyVerdict]) -> list[Content]:
    return [
        {
            "property": verdict.rule.name,
            "says": verdict.rule.says,
            "algorithm": verdict.algorithm,
            "verdict": verdict.verdict,
            "findings": [
                {
                    "rule": str(finding.clause),
                    "sequences": finding.sequences,
                    "figure": _numbers(finding.estimate),
                    "signed": finding.clause.signed,
                    "verdict": finding.verdict,
                    "reason": finding.reason,
                }
                for finding in verdict.findings
            ],
        }
        for verdict in found
    ]


def _numbers(found: MeanEstimate | None) -> list[float | None] | None:
    """Return the mean, the interval's ends and the number of realisations."""
    if found is None:
        return None
    return [_plain(found.mean), _plain(found.low), _plain(found.high), found.n]


def _plain(number: Any) -> Any:
    """Return a number with six digits, which are plenty; None if it is not finite."""
    if isinstance(number, float):
        return float(f"{number:.6g}") if math.isfinite(number) else None
    return number
