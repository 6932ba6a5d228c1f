"""What an algorithm noted of a problem, as people read it: what it chose from, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bell_bench.modular.path import ModulePath
from bell_bench.text import brief, paragraph, table

if TYPE_CHECKING:
    from bell_bench.records import SolvedProblem

MOST = 5
"""Candidates told of a choice in full: the best so many."""
FEW = 3
"""The same in short."""
LONGEST = 600
"""Characters told of a note that this file does not know."""


def told_problem(problem: SolvedProblem, full: bool) -> Iterable[str]:
    """The best that the searches chose from, what was evaluated, what won and why."""
    noted = [_told_note(name, value, full) for name, value in search_notes(problem)]
    searches = list(filter(None, noted))
    choices = [note for note in problem.notes if _is_choice(note)]
    if not searches and not choices:
        return
    why = f": {choices[-1]['chosen']['why']}" if choices else ""
    yield f"problem {problem.index + 1} {problem.name}{why}"
    yield from searches
    for note in choices:
        if searches:
            yield "  evaluated (* won)"
        yield _told_choice(note)


def _is_choice(note: dict[str, Any]) -> bool:
    """Whether this is what every modular algorithm notes last."""
    return "evaluated" in note and isinstance(note.get("chosen"), dict)


def search_notes(problem: SolvedProblem) -> list[tuple[str, Any]]:
    """All that was noted besides the choice, by name."""
    notes = [note for note in problem.notes if not _is_choice(note)]
    return [(name, value) for note in notes for name, value in note.items()]


def _told_choice(note: dict[str, Any]) -> str:
    rows = [
        (
            "*" if row["path"] == note["chosen"]["path"] else "",
            str(ModulePath(tuple(row["path"]))),
            "diverged" if row["diverged"] else _percent(row["accuracy"]),
            *((row["by"],) if "by" in row else ()),
        )
        for row in note["evaluated"]
    ]
    return table(rows)


def _told_note(name: str, value: Any, full: bool) -> str:
    """A note in the form made for it; in full, one of another name or shape as a line."""
    tellers = TELLERS if full else BRIEF
    if name in tellers:
        try:
            return tellers[name](value)
        except (AttributeError, KeyError, TypeError, ValueError):
            pass  # another algorithm's note of the same name
    if not full:
        return ""
    text = f"{name}: {brief(value)}"
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} … (--json has all)"
    return paragraph(text, indent=2)


def _told_pt(note: dict[str, Any]) -> str:
    groups = []
    for layer in note["layers"]:
        ranked = sorted(layer["candidates"], key=_log_posterior, reverse=True)
        rows = [
            (
                layer["layer"] if place == 0 else "",
                "*" if row["module"] == layer["chosen"] else "",
                row["module"],
                *(_decimals(row[key], 1) for key in ("log_likelihood", "log_prior")),
                _significant(row["posterior"]),
            )
            for place, row in enumerate(ranked[:MOST])
        ]
        groups.append((rows, len(ranked) - len(rows)))
    headers = ("layer", "", "module", "log-likelihood", "log-prior", "posterior")
    title = "  PT: the likeliest module of each layer, given those below (* chosen)"
    return _joined(title, _grouped(groups, headers), f"    stopped: {note['stopped']}")


def _brief_pt(note: dict[str, Any]) -> str:
    """A line per layer."""
    rows = []
    for layer in note["layers"]:
        ranked = sorted(layer["candidates"], key=_log_posterior, reverse=True)
        best = [
            f"{'*' * (row['module'] == layer['chosen'])}{row['module']} "
            f"{_significant(row['posterior'], 2)}"
            for row in ranked[:FEW]
        ]
        more = f"… and {len(ranked) - FEW} more" if len(ranked) > FEW else ""
        rows.append((layer["layer"], *best, *[""] * (FEW - len(best)), more))
    title = "  PT: the likeliest modules of each layer, and their posteriors (* chosen)"
    return _joined(title, table(rows, indent=4)) if rows else ""


def _log_posterior(candidate: dict[str, Any]) -> float:
    """Up to a constant; unlike the posterior itself, it tells candidates near zero apart."""
    return _by("log_likelihood")(candidate) + _by("log_prior")(candidate)


def _told_nt(note: dict[str, Any]) -> str:
    groups = []
    for number, step in enumerate(note["steps"], start=1):
        candidates = step.get("candidates") or [{"suffix": step["evaluated"]}]
        ranked = sorted(candidates, key=_by("ucb"), reverse=True)
        rows = [
            (
                *((number, step["why"]) if place == 0 else ("", "")),
                "*" if (here := row["suffix"] == step["evaluated"]) else "",
                " ".join(row["suffix"]),
                _percent(step.get("accuracy")) if here else "",
                f"{_percent(row['mean'])} ± {_percent(row['deviation'])}" if "mean" in row else "",
                _percent(row["ucb"]) if "ucb" in row else "",
                _significant(row["ei"]) if "ei" in row else "",
            )
            for place, row in enumerate(ranked[:MOST])
        ]
        groups.append((rows, len(ranked) - len(rows)))
    headers = ("step", "why", "", "suffix", "accuracy %", "GP mean ± deviation %", "UCB %", "EI")
    central = sorted(note["suffixes"], key=_by("mean_distance"))
    suffixes = [
        (" ".join(row["suffix"]), row["problem"], row["mean_distance"]) for row in central[:MOST]
    ]
    best = f"; best: {' '.join(note['best'])}" if "best" in note else ""
    return _joined(
        "  NT: suffixes of earlier solutions, the most central first",
        _grouped(
            [(suffixes, len(central) - len(suffixes))], ("suffix", "problem", "mean distance")
        ),
        "  NT: suffixes by what the Gaussian process expects of them (* evaluated)" * bool(groups),
        _grouped(groups, headers),
        f"    stopped: {note['stopped']}{best}",
    )


def _brief_nt(note: dict[str, Any]) -> str:
    """The best suffixes: what the process expected when last asked, and what was found."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for step in note["steps"]:
        for row in step.get("candidates") or ():
            found.setdefault(tuple(row["suffix"]), {}).update(row)
        if step["evaluated"]:
            found.setdefault(tuple(step["evaluated"]), {})["accuracy"] = step["accuracy"]
    ranked = sorted(found.items(), key=lambda item: _by_accuracy(item[1]), reverse=True)
    rows = [
        (
            "*" if list(suffix) == note.get("best") else "",
            " ".join(suffix),
            f"{_percent(row['mean'])} ± {_percent(row['deviation'])}" if "mean" in row else "–",
            _percent(row.get("accuracy")),
        )
        for suffix, row in ranked[:FEW]
    ]
    if not rows:
        return ""
    headers = ("", "suffix", "GP mean ± deviation %", "accuracy %")
    more = len(note["suffixes"]) - len(rows)
    return _joined(
        "  NT: the best suffixes, as the Gaussian process expected them and as found (* best)",
        _grouped([(rows, more)], headers),
        f"    stopped: {note['stopped']}",
    )


def _by_accuracy(suffix: dict[str, Any]) -> float:
    """What was found, or else what was expected."""
    return _by("accuracy" if "accuracy" in suffix else "mean")(suffix)


def _told_neighbours(note: list[dict[str, Any]], most: int = MOST) -> str:
    ranked = sorted(note, key=_by("accuracy"), reverse=True)
    rows = [
        (
            "*" if place == 0 else "",
            row["problem"],
            " ".join(row["modules"]),
            _percent(row["accuracy"]),
        )
        for place, row in enumerate(ranked[:most])
    ]
    if not rows:
        return "  nearest neighbours: no earlier solution’s first modules fit"
    title = "  nearest neighbours in the features of earlier solutions (* nearest)"
    headers = ("", "problem", "modules", "accuracy %")
    return _joined(title, _grouped([(rows, len(ranked) - len(rows))], headers))


TELLERS: dict[str, Callable[[Any], str]] = {
    "pt": _told_pt,
    "nt": _told_nt,
    "nearest_neighbours": _told_neighbours,
}
"""How the built-in algorithms' notes are told in full, by name."""
BRIEF: dict[str, Callable[[Any], str]] = {
    "pt": _brief_pt,
    "nt": _brief_nt,
    "nearest_neighbours": partial(_told_neighbours, most=FEW),
}
"""The same in short; other notes are left to the full account."""


def _grouped(groups: Sequence[tuple[list[tuple[Any, ...]], int]], headers: Sequence[str]) -> str:
    """One table of several groups of rows; after each, how many more were left out.

    The last column must be a short one, so that it never wraps: a row is a line.
    """
    rows = [row for group, _ in groups for row in group]
    if not rows:
        return ""
    lines = iter(table(rows, headers, indent=4).splitlines())
    told = [next(lines)]
    for group, more in groups:
        told += [next(lines) for _ in group]
        told += [f"    … and {more} more"] * bool(more)
    return "\n".join(told)


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _by(key: str) -> Callable[[dict[str, Any]], float]:
    """A sort key for rows whose number may be missing, as JSON has no infinity."""

    def number(row: dict[str, Any]) -> float:
        value = row.get(key)
        return float("-inf") if value is None else float(value)

    return number


def _percent(accuracy: float | None) -> str:
    return _decimals(accuracy and 100 * accuracy, 2)


def _decimals(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no -0.0


def _significant(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}"
