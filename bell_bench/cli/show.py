"""``bell-bench show``: what a run found, problem by problem, how it chose, and what it cost."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from bell_bench.cli.output import echo_json
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.facts.jobs import draw, find_jobs
from bell_bench.text import brief, paragraph, table

if TYPE_CHECKING:
    from bell_bench.harness.store import JobFolder

MOST = 5
"""Candidates told of a choice: the best so many."""
LONGEST = 600
"""Characters told of a note that this file does not know."""


@click.command()
@click.argument("run", type=click.Path(path_type=pathlib.Path), default="runs")
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path),
    default="runs",
    show_default=True,
    help="The folder of results in which RUN is looked for by name.",
)
@click.option("--problem", type=click.IntRange(1), help="Of one job: only this problem, in full.")
@click.option("--full", is_flag=True, help="Of one job: the candidates of every choice too.")
@click.option("--json", "as_json", is_flag=True, help="The records as JSON, always in full.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, writable=True, path_type=pathlib.Path),
    help="Draw a modular job's library and chosen paths to this PNG file.",
)
def command(
    run: pathlib.Path,
    out: pathlib.Path,
    problem: int | None,
    full: bool,
    as_json: bool,
    picture: pathlib.Path | None,
) -> int:
    """Show RUN: a job's folder, part of its name, or a folder of runs.

    One job is told problem by problem; several are listed, a line each.
    """
    from bell_bench.harness.store import JobFolder

    folders = [JobFolder(path) for path in find_jobs(run, out)]
    asked = {"--problem": problem, "--full": full, "--picture": picture}
    if len(folders) > 1 and (given := [name for name, value in asked.items() if value]):
        names = "\n  ".join(folder.path.name for folder in folders)
        raise UsageError(
            f"{given[0]} is for one job, {str(run)!r} means {len(folders)}; name one:\n  {names}"
        )
    try:
        _show([(folder, folder.record()) for folder in folders], problem, full, as_json, picture)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise BellBenchError(
            f"a record of {run} is not as bell-bench writes them ({type(error).__name__}: {error}):"
            " it was changed or damaged. `bell-bench evaluate` makes it again"
        ) from error
    return 0


def _show(
    records: list[tuple[JobFolder, dict[str, Any] | None]],
    problem: int | None,
    full: bool,
    as_json: bool,
    picture: pathlib.Path | None,
) -> None:
    if picture is not None:
        draw(*records[0], picture)
        click.echo(f"wrote {picture}", err=True)
    if as_json:
        found = [record for _, record in records if record is not None]
        echo_json(found[0] if len(records) == 1 and found else found)
    elif len(records) == 1:
        tell(*records[0], problem, full)
    else:
        rows = [(folder.path.name, *standing(record)) for folder, record in records]
        click.echo(table(rows, ("job", "status", "problems", "A")))


def standing(record: dict[str, Any] | None) -> tuple[str, int | None, float | None]:
    from bell_bench_leaderboard import result_rows

    if record is None:
        return "not finished", None, None
    average = result_rows([record])[0]["A"]
    return record["status"], len(record["problems"]), average and round(average, 2)


def tell(folder: JobFolder, record: dict[str, Any] | None, number: int | None, full: bool) -> None:
    """One job: all problems in short or in full, or the one of this number in full."""
    job, problems = folder.job(), _wanted(record["problems"], number) if record else []
    click.echo(f"{folder.path}")
    click.echo(
        f"{job.algorithm} ({job.provider}) on {job.suite} {job.sequence}, realisation "
        f"{job.realisation} (seed {job.realisation_seed}), seed {job.seed}; "
        f"scale {job.scale}, data {job.data}, protocol {job.protocol}"
    )
    if job.options:
        click.echo("options: " + ", ".join(f"{k}={v}" for k, v in job.options.items()))
    if record is None:
        click.echo("not finished: it runs, or was cut off; the same evaluate command goes on")
        return
    reason = f": {record['reason']}" if record["reason"] else ""
    click.echo(f"status: {record['status']}{reason} (log: {folder.log_file})")
    if measured := record.get("metrics"):
        click.echo(
            f"A {measured['A']:.2f}, F {measured['F']:+.2f}, backward transfer "
            f"{measured['backward_transfer']:+.2f} (first problem, end against learnt)"
        )
    click.echo()
    headers = ("problem", "learnt %", "final %", "path", "paths", "trained", "updates", "s", "MB")
    click.echo(table([_row(problem) for problem in problems], headers))
    full = full or number is not None
    for problem in problems:
        if told := list(_told(problem, full)):
            click.echo("\n" + "\n".join(told))
    if not full and any(_search_notes(problem) for problem in problems):
        click.echo("\n--problem N or --full tells what each was chosen from")


def _wanted(problems: list[dict[str, Any]], number: int | None) -> list[dict[str, Any]]:
    if number is None:
        return problems
    if number > len(problems):
        raise UsageError(f"there is no problem {number}: the job has solved {len(problems)}")
    return [problems[number - 1]]


def _row(problem: dict[str, Any]) -> tuple[Any, ...]:
    used = problem["resources"]
    final = problem.get("accuracy_final")
    return (
        f"{problem['index'] + 1} {problem['name']}",
        round(100 * problem["accuracy_learnt"], 2),
        None if final is None else round(100 * final, 2),
        " ".join(problem["path"] or ["–"]),
        used["paths_evaluated"],
        used["paths_trained"],
        used["updates"],
        round(used["wall_s"], 2),
        round(used["peak_memory_bytes"] / 1024**2),
    )


def _told(problem: dict[str, Any], full: bool) -> Iterable[str]:
    """What was evaluated, what won and why; in full, first what the searches chose from."""
    searches = _search_notes(problem) if full else []
    choices = [note for note in problem["notes"] if _is_choice(note)]
    if not searches and not choices:
        return
    why = f": {choices[-1]['chosen']['why']}" if choices else ""
    yield f"problem {problem['index'] + 1} {problem['name']}{why}"
    for name, value in searches:
        yield _told_note(name, value)
    for note in choices:
        if searches:
            yield "  evaluated (* won)"
        yield _told_choice(note)


def _is_choice(note: dict[str, Any]) -> bool:
    """Whether this is what every modular algorithm notes last."""
    return "evaluated" in note and isinstance(note.get("chosen"), dict)


def _search_notes(problem: dict[str, Any]) -> list[tuple[str, Any]]:
    notes = [note for note in problem["notes"] if not _is_choice(note)]
    return [(name, value) for note in notes for name, value in note.items()]


def _told_choice(note: dict[str, Any]) -> str:
    rows = [
        (
            "*" if row["path"] == note["chosen"]["path"] else "",
            " ".join("·" if name == "new" else name for name in row["path"]),
            "diverged" if row["diverged"] else _percent(row["accuracy"]),
            *((row["by"],) if "by" in row else ()),
        )
        for row in note["evaluated"]
    ]
    return table(rows)


def _told_note(name: str, value: Any) -> str:
    """A note in the form made for it; one of another name or shape as a line."""
    if name in TELLERS:
        try:
            return TELLERS[name](value)
        except (AttributeError, KeyError, TypeError, ValueError):
            pass  # another algorithm's note of the same name
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


def _told_neighbours(note: list[dict[str, Any]]) -> str:
    ranked = sorted(note, key=_by("accuracy"), reverse=True)
    rows = [
        (
            "*" if place == 0 else "",
            row["problem"],
            " ".join(row["modules"]),
            _percent(row["accuracy"]),
        )
        for place, row in enumerate(ranked[:MOST])
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
"""How the built-in algorithms' notes are told, by name."""


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


def _significant(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
