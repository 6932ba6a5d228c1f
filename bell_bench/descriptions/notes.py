"""Show what an algorithm noted about a problem: what it chose from, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bell_bench.import_strings import load_object
from bell_bench.modular.path import ModulePath
from bell_bench.plugins import registry
from bell_bench.specs import NoteSpec
from bell_bench.text import brief, paragraph, table

if TYPE_CHECKING:
    from bell_bench.records import SolvedProblem

LONGEST = 600
"""How many characters are shown of a note that no plugin formats."""


def told_problem(problem: SolvedProblem, full: bool) -> Iterable[str]:
    """Yield what the searches chose from, what was evaluated, what won and why."""
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
    """Return whether this is the note that every modular algorithm makes last."""
    return "evaluated" in note and isinstance(note.get("chosen"), dict)


def search_notes(problem: SolvedProblem) -> list[tuple[str, Any]]:
    """Return all notes except the choice, by name."""
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
    """Return a note as a plugin formats it. If ``full``, a note without a plugin is one line."""
    for provided in registry().every(NoteSpec):
        if provided.spec.name == name and (told := _tell(provided.spec, value, full)):
            return told
    if not full:
        return ""
    text = f"{name}: {brief(value)}"
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} … (--json has all)"
    return paragraph(text, indent=2)


def _tell(spec: NoteSpec, value: Any, full: bool) -> str:
    """Return a plugin's text for a note; empty if the note is another algorithm's."""
    try:
        return str(load_object(spec.load)(value, full))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ""


def _percent(accuracy: float | None) -> str:
    return "–" if accuracy is None else f"{100 * accuracy:.2f}"
