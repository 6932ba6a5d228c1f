"""Tables of a board: a summary for the terminal, the paper's wide form, and one row per job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bell_bench import records
from bell_bench_leaderboard.boards import Board, boards
from bell_bench_leaderboard.bootstrap import LEVEL
from bell_bench_leaderboard.compare import Rank, difference, mean, mean_of_complete, ranks
from bell_bench_leaderboard.grids import Grid, Value, number, to_text, value

SCORES = {score.name: (score.title, score.form) for score in records.SCORES if score.shown}
"""For each figure its title and its format."""
COSTS = {cost.name: (cost.title, cost.form, cost.unit) for cost in records.COSTS if cost.summary}
"""For each figure its title, its format and its unit."""
ALL = "all"
"""The name of the rows with averages over sequences."""

Row = Mapping[str, Any]


def summary_table(rows: Iterable[Row], *, baseline: str | None = None) -> str:
    """Return the mean over realisations for each sequence and algorithm, one block per setting.

    A cell with jobs that are not done names their status instead of averaging them away.
    """
    return "\n\n".join(to_text(summary_grid(board, baseline=baseline)) for board in boards(rows))


def summary_grid(board: Board, *, baseline: str | None = None) -> Grid:
    """Return one line per sequence and algorithm, and one per algorithm over all sequences.

    To save room, only scores have intervals; the table of costs has the intervals of costs.
    """
    yardstick = known_baseline(board, baseline)
    header = ["sequence", "algorithm", *(name for name, _ in SCORES.values())]
    header += [f"A − {yardstick}"] if yardstick else []
    header += [*(name for name, *_ in COSTS.values()), "rank", "n"]
    lines = [
        _line(board, sequence, name, yardstick)
        for sequence in board.sequences
        for name in board.algorithms
        if board.cells[sequence, name].jobs or len(board.sequences) > 1
    ]
    several = len(board.averaged) > 1
    order = ranks(board)
    if several:
        lines += [_average(board, name, yardstick, order) for name in _best_first(board)]
    keep = [i for i, name in enumerate(header) if name != "rank" or several]
    return Grid(
        board.title,
        [header[i] for i in keep],
        [[line[i] for i in keep] for line in lines],
        [*notes(board), *_left_out(board), *_faults(board)],
        names=2,
    )


def _line(board: Board, sequence: str, name: str, baseline: str | None) -> list[Value]:
    cell = board.cells[sequence, name]
    place = [Value(sequence), Value(name)]
    blanks = len(SCORES) + (baseline is not None) + len(COSTS)
    if cell.status:
        count = Value(f"{cell.done}/{len(cell.expected)}")
        return [*place, Value(cell.status), *[Value("")] * (blanks - 1), Value(""), count]
    return [
        *place,
        *(value(mean(board, figure, name, [sequence]), form)
          for figure, (_, form) in SCORES.items()),
        *([value(difference(board, "A", name, baseline, [sequence]), "{:+.2f}")]
          if baseline else []),
        *(value(mean(board, figure, name, [sequence], level=None), form, scale=scale)
          for figure, (_, form, scale) in COSTS.items()),
        Value(""),
        Value(str(len(cell.jobs))),
    ]  # fmt: skip


def _average(
    board: Board, name: str, baseline: str | None, order: Mapping[str, Rank]
) -> list[Value]:
    """Return an algorithm's line over all sequences. If it has not completed all of them, the line
    is over those that it completed, and says so."""
    counted = sum(board.cells[sequence, name].done for sequence in board.averaged)
    asked = sum(len(board.cells[sequence, name].expected) for sequence in board.averaged)
    return [
        Value(ALL),
        Value(name),
        *(average(board, figure, name, form) for figure, (_, form) in SCORES.items()),
        *([value(difference(board, "A", name, baseline), "{:+.2f}")] if baseline else []),
        *(average(board, figure, name, form, scale=scale, level=None)
          for figure, (_, form, scale) in COSTS.items()),
        Value(str(order.get(name, "–"))),
        Value(str(counted) if counted == asked else f"{counted}/{asked}"),
    ]  # fmt: skip


def average(
    board: Board, figure: str, name: str, form: str, *, scale: float = 1.0,
    level: float | None = LEVEL,
) -> Value:  # fmt: skip
    """Return a mean over sequences as a cell; if some are incomplete, it says how many were
    averaged."""
    found, count = mean_of_complete(board, figure, name, level=level)
    if found is None:
        return Value("–")
    asked = len(board.averaged)
    note = "" if count == asked else f" ({count} of {asked})"
    return value(found, form, scale=scale, note=note)


def _best_first(board: Board) -> list[str]:
    """Return the algorithms by mean A, the highest first; those that have not completed everything
    come last."""
    found = {name: mean(board, "A", name) for name in board.algorithms}
    scores = {name: -each.mean for name, each in found.items() if each is not None}
    return sorted(board.algorithms, key=lambda name: scores.get(name, 1.0))


def wide_grid(board: Board, *, baseline: str | None = None) -> Grid:
    """Return the paper's table: sequences × algorithms for A, F and Tr⁻¹, with averages, the best
    marked."""
    yardstick = known_baseline(board, baseline)
    rows: list[list[Value]] = []
    rules = []
    for figure, (title, form) in SCORES.items():
        rules.append(len(rows))
        rows += [
            [Value(title), Value(sequence), *_wide(board, figure, sequence, form)]
            for sequence in board.sequences
        ]
        averages = [average(board, figure, name, form) for name in board.algorithms]
        rows.append([Value(title), Value("Avg."), *_mark_best(averages)])
    if yardstick:
        rules.append(len(rows))
        rows += _differences(board, yardstick)
    order = ranks(board)
    if order:
        rules.append(len(rows))
        placed = [Value(str(order.get(name, "–"))) for name in board.algorithms]
        rows.append([Value("rank"), Value("by A"), *placed])
    return Grid(
        board.title,
        ["", "sequence", *board.algorithms],
        rows,
        [*notes(board), *_left_out(board), *_faults(board)],
        names=2,
        rules=rules[1:],
    )


def _wide(board: Board, figure: str, sequence: str, form: str) -> list[Value]:
    cells = []
    for name in board.algorithms:
        status = board.cells[sequence, name].status
        found = mean(board, figure, name, [sequence])
        cells.append(Value(status) if status else value(found, form))
    return _mark_best(cells)


def _differences(board: Board, baseline: str) -> list[list[Value]]:
    places: list[tuple[str, Sequence[str] | None]]
    places = [*((sequence, [sequence]) for sequence in board.sequences), ("Avg.", None)]
    return [
        [Value(f"{score} − {baseline}"), Value(label),
         *(value(difference(board, figure, name, baseline, asked), "{:+.2f}")
           for name in board.algorithms)]
        for figure, (score, _) in SCORES.items()
        for label, asked in places
    ]  # fmt: skip


def _mark_best(cells: list[Value]) -> list[Value]:
    """Mark all cells that print the highest number. A mean over fewer sequences is never marked."""
    numbers = [_parsed(cell.text) for cell in cells]
    known = [each for each in numbers if each is not None]
    if len(known) < 2 or len(set(known)) < 2:
        return cells
    return [
        replace(cell, best=each == max(known)) for cell, each in zip(cells, numbers, strict=True)
    ]


def _parsed(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def long_grid(board: Board) -> Grid:
    """Return one row per job: the main columns of the long CSV."""
    header = ["algorithm", "sequence", "realisation", "seed", "status",
              *(name for name, *_ in (*SCORES.values(), *COSTS.values()))]  # fmt: skip
    rows = [
        [Value(name), Value(row["sequence"]), Value(str(row["realisation"])),
         Value(str(row["seed"])), Value(row["status"]),
         *(_figure(row[figure], form) for figure, (_, form) in SCORES.items()),
         *(_figure(row[figure], form, scale) for figure, (_, form, scale) in COSTS.items())]
        for name, row in board
    ]  # fmt: skip
    return Grid(board.title, header, rows, _faults(board), names=2)


def _figure(amount: float | None, form: str, scale: float = 1.0) -> Value:
    return Value("–" if amount is None else number(scale * amount, form))


def known_baseline(board: Board, asked: str | None) -> str | None:
    """Return the baseline's name on this board; None if it was not asked for or is not on the
    board."""
    return asked if asked in board.algorithms else None


def notes(board: Board) -> list[str]:
    """Return what to know about the intervals: how they were made, or why there are none."""
    counts = {
        len({realisation for realisation, _ in cell.expected}) for cell in board.cells.values()
    }
    if counts == {1}:
        return ["one realisation: no interval can be given, nor ranks; three give both"]
    span = str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    found = [f"[95% intervals] over {span} realisations per sequence (docs/leaderboard.md)"]
    return found + (["where there is one, none can be given"] if 1 in counts else [])


def _left_out(board: Board) -> list[str]:
    alone = [name for name in board.sequences if name not in board.averaged]
    return [f"averages and ranks leave out {', '.join(alone)}"] if alone else []


def _faults(board: Board) -> list[str]:
    """Return the jobs whose accuracies contradict their predictions or could not be checked."""
    unlike: dict[str, int] = {}
    for _, row in board:
        if row["check"].startswith(("mismatch", "as recorded")):
            reason = f": {row['reason']}" if row["reason"] else ""
            text = f"{row['check']}{reason}"
            unlike[text] = unlike.get(text, 0) + 1
    return [f"{count} job{'s' if count > 1 else ''} {text}" for text, count in unlike.items()]
