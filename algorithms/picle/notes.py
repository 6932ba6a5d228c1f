"""How ``bell-bench show`` tells what PICLE's searches noted."""

from __future__ import annotations

from typing import Any

from bell_bench import table
from bell_bench_algorithms.notes import (
    FEW,
    MOST,
    by_number,
    decimals,
    grouped,
    joined,
    percent,
    significant,
)


def tell_pt(note: dict[str, Any], full: bool) -> str:
    """Return the likeliest modules of each layer of the PT search."""
    return _whole_pt(note) if full else _brief_pt(note)


def tell_nt(note: dict[str, Any], full: bool) -> str:
    """Return the suffixes that the NT search looked at, and what it found."""
    return _whole_nt(note) if full else _brief_nt(note)


def _whole_pt(note: dict[str, Any]) -> str:
    groups = []
    for layer in note["layers"]:
        ranked = sorted(layer["candidates"], key=_log_posterior, reverse=True)
        rows = [
            (
                layer["layer"] if place == 0 else "",
                "*" if row["module"] == layer["chosen"] else "",
                row["module"],
                *(decimals(row[key], 1) for key in ("log_likelihood", "log_prior")),
                significant(row["posterior"]),
            )
            for place, row in enumerate(ranked[:MOST])
        ]
        groups.append((rows, len(ranked) - len(rows)))
    headers = ("layer", "", "module", "log-likelihood", "log-prior", "posterior")
    title = "  PT: the likeliest module of each layer, given those below (* chosen)"
    return joined(title, grouped(groups, headers), f"    stopped: {note['stopped']}")


def _brief_pt(note: dict[str, Any]) -> str:
    """A line per layer."""
    rows = []
    for layer in note["layers"]:
        ranked = sorted(layer["candidates"], key=_log_posterior, reverse=True)
        best = [
            f"{'*' * (row['module'] == layer['chosen'])}{row['module']} "
            f"{significant(row['posterior'], 2)}"
            for row in ranked[:FEW]
        ]
        more = f"… and {len(ranked) - FEW} more" if len(ranked) > FEW else ""
        rows.append((layer["layer"], *best, *[""] * (FEW - len(best)), more))
    title = "  PT: the likeliest modules of each layer, and their posteriors (* chosen)"
    return joined(title, table(rows, indent=4)) if rows else ""


def _log_posterior(candidate: dict[str, Any]) -> float:
    """Up to a constant; unlike the posterior itself, it tells candidates near zero apart."""
    return by_number("log_likelihood")(candidate) + by_number("log_prior")(candidate)


def _whole_nt(note: dict[str, Any]) -> str:
    groups = []
    for number, step in enumerate(note["steps"], start=1):
        candidates = step.get("candidates") or [{"suffix": step["evaluated"]}]
        ranked = sorted(candidates, key=by_number("ucb"), reverse=True)
        rows = [
            (
                *((number, step["why"]) if place == 0 else ("", "")),
                "*" if (here := row["suffix"] == step["evaluated"]) else "",
                " ".join(row["suffix"]),
                percent(step.get("accuracy")) if here else "",
                f"{percent(row['mean'])} ± {percent(row['deviation'])}" if "mean" in row else "",
                percent(row["ucb"]) if "ucb" in row else "",
                significant(row["ei"]) if "ei" in row else "",
            )
            for place, row in enumerate(ranked[:MOST])
        ]
        groups.append((rows, len(ranked) - len(rows)))
    headers = ("step", "why", "", "suffix", "accuracy %", "GP mean ± deviation %", "UCB %", "EI")
    central = sorted(note["suffixes"], key=by_number("mean_distance"))
    suffixes = [
        (" ".join(row["suffix"]), row["problem"], row["mean_distance"]) for row in central[:MOST]
    ]
    best = f"; best: {' '.join(note['best'])}" if "best" in note else ""
    return joined(
        "  NT: suffixes of earlier solutions, the most central first",
        grouped([(suffixes, len(central) - len(suffixes))], ("suffix", "problem", "mean distance")),
        "  NT: suffixes by what the Gaussian process expects of them (* evaluated)" * bool(groups),
        grouped(groups, headers),
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
            f"{percent(row['mean'])} ± {percent(row['deviation'])}" if "mean" in row else "–",
            percent(row.get("accuracy")),
        )
        for suffix, row in ranked[:FEW]
    ]
    if not rows:
        return ""
    headers = ("", "suffix", "GP mean ± deviation %", "accuracy %")
    more = len(note["suffixes"]) - len(rows)
    return joined(
        "  NT: the best suffixes, as the Gaussian process expected them and as found (* best)",
        grouped([(rows, more)], headers),
        f"    stopped: {note['stopped']}",
    )


def _by_accuracy(suffix: dict[str, Any]) -> float:
    """What was found, or else what was expected."""
    return by_number("accuracy" if "accuracy" in suffix else "mean")(suffix)
