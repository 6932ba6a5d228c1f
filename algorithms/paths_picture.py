"""The paths of a modular algorithm as a picture, drawn from a job's record alone. Imports no torch.

Columns are problems, rows are layers; a box is a module, coloured by the problem it was trained on.
"""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bell_bench import NEW, Job, Record, SolvedProblem, UsageError, save_picture

PALETTE = ("#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE",
           "#882255", "#44AA99", "#999933", "#AA4499")  # fmt: skip
"""Paul Tol's muted colours: apart for the colour-blind too. More problems take a ramp instead."""
INK, GREY = "#222222", "#777777"


@dataclass(frozen=True)
class Box:
    """A module where a solution uses it; columns and rows from 0."""

    name: str
    column: int
    row: int
    origin: int
    """The column in which the module was new."""

    @property
    def new(self) -> bool:
        return self.origin == self.column


@dataclass(frozen=True)
class Link:
    """From a reused module to where it was used last before."""

    source: Box
    target: Box

    @property
    def straight(self) -> bool:
        return self.target.column - self.source.column == 1 and self.target.row == self.source.row


@dataclass(frozen=True)
class Style:
    """Sizes in inches; text in points."""

    width: float
    height: float
    gap: float
    """Between columns."""
    gutter: float
    """Between rows, where lines pass."""
    below: float
    """For what is written below the columns."""
    new: float
    """The width of a new module's outline, in points, as is the next."""
    line: float
    written: bool
    """Whether boxes bear names, and problems are told in several lines."""


SHORT = Style(1.0, 0.34, 0.62, 0.26, 1.5, 2.4, 1.2, True)
LONG = Style(0.2, 0.2, 0.12, 0.2, 2.1, 1.5, 0.7, False)
MOST_SHORT = 12
LEFT, RIGHT, ABOVE, FOOT = 1.0, 0.4, 1.15, 0.5
LEAST = 8
"""Inches of width, for the key."""


def draw_paths(record: Record, file: pathlib.Path, kinds: Sequence[str] = ()) -> None:
    """Draw the solutions of a job across its sequence; ``kinds`` names each problem's, if known."""
    from matplotlib.figure import Figure

    problems = record.problems
    boxes = lay_out(problems)
    if not boxes:
        why = "it is not modular" if problems else "no problem is solved"
        raise UsageError(
            f"{record.job.algorithm} on {record.job.sequence} has no paths to draw: {why}; "
            "modular algorithms such as picle, mntdp-d, houdini, rs and sa have"
        )
    figure = Figure()
    known = figure.canvas.get_supported_filetypes()
    if file.suffix.lstrip(".").lower() not in known:
        raise UsageError(f"{file} is no picture file; known endings: {', '.join(sorted(known))}")
    sheet = Sheet(figure, len(problems), boxes)
    sheet.draw_boxes(boxes)
    for box_links in by_row(links(boxes)).values():
        sheet.draw_links(box_links)
    for column, problem in enumerate(problems):
        sheet.tell(column, problem, kinds[column] if column < len(kinds) else "")
    sheet.draw_frame(record.job)
    save_picture(figure, file, dpi=150, facecolor="white")


def lay_out(problems: Sequence[SolvedProblem]) -> list[Box]:
    """Every solution's modules, each in the row of its layer.

    Networks differ in length: a shorter one stands where modules it shares with others stand.
    """
    longest = max((len(problem.path or ()) for problem in problems), default=0)
    first: dict[str, Box] = {}
    boxes = []
    for column, problem in enumerate(problems):
        top = _top(problem, problems, longest, first)
        for layer, name in enumerate(problem.path or ()):
            origin = first[name].origin if name in first else column
            box = Box(name, column, top + layer, origin)
            first.setdefault(name, box)
            boxes.append(box)
    return boxes


def _top(
    problem: SolvedProblem,
    problems: Sequence[SolvedProblem],
    longest: int,
    first: Mapping[str, Box],
) -> int:
    """The row of a solution's first module.

    The paths evaluated tell, as their library modules have rows already. If all were new, a network
    with as many classes as the longest ones ends where they do; another begins where they do.
    """
    room = longest - len(problem.path or ())
    paths = [problem.path or (), *(row["path"] for row in evaluated(problem))]
    shifts = Counter(
        first[name].row - layer
        for path in paths
        for layer, name in enumerate(path)
        if name in first
    )
    if shifts:
        return min(max(shifts.most_common(1)[0][0], 0), room)
    alike = any(
        len(other.path or ()) == longest and other.classes == problem.classes for other in problems
    )
    return room if alike else 0


def links(boxes: Sequence[Box]) -> list[Link]:
    """Every reused module with its last use before."""
    last: dict[str, Box] = {}
    found = []
    for box in boxes:
        if not box.new:
            found.append(Link(last[box.name], box))
        last[box.name] = box
    return found


def by_row(found: Sequence[Link]) -> dict[int, list[Link]]:
    rows: dict[int, list[Link]] = {}
    for link in found:
        rows.setdefault(link.target.row, []).append(link)
    return rows


def lanes(found: Sequence[Link]) -> dict[Link, int]:
    """Where the lines above a row run, so that none lies on another: the first lane free."""
    ends: list[int] = []
    placed = {}
    for link in sorted(found, key=lambda link: (link.source.column, link.target.column)):
        free = (lane for lane, end in enumerate(ends) if end <= link.source.column)
        lane = next(free, len(ends))
        ends[lane : lane + 1] = [link.target.column]
        placed[link] = lane
    return placed


def evaluated(problem: SolvedProblem) -> list[Mapping[str, Any]]:
    """The rows of paths evaluated, if the algorithm noted them as modular ones do."""
    rows = [row for note in problem.notes for row in note.get("evaluated", ())]
    return [row for row in rows if isinstance(row, Mapping) and "path" in row]


class Sheet:
    """The paper: coordinates in inches from the top left corner."""

    def __init__(self, figure: Any, columns: int, boxes: Sequence[Box]) -> None:
        self.figure, self.columns = figure, columns
        self.rows = 1 + max(box.row for box in boxes)
        self.style = SHORT if columns <= MOST_SHORT else LONG
        self.colours = _colours(columns)
        self.bottom = ABOVE + self.rows * self.pitch_y
        right = LEFT + columns * self.pitch_x - self.style.gap
        self.width = max(right + RIGHT, LEAST)
        self.height = self.bottom + self.style.below + FOOT
        figure.set_size_inches(self.width, self.height)
        self.axes = figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        self.axes.set_axis_off()

    @property
    def pitch_x(self) -> float:
        return self.style.width + self.style.gap

    @property
    def pitch_y(self) -> float:
        return self.style.height + self.style.gutter

    def left(self, column: int) -> float:
        return LEFT + column * self.pitch_x

    def centre(self, column: int) -> float:
        return self.left(column) + self.style.width / 2

    def middle(self, row: int) -> float:
        """The height of a row's boxes' middle; the gutter is above them."""
        return ABOVE + row * self.pitch_y + self.style.gutter + self.style.height / 2

    def line(self, number: int) -> float:
        """The height of a line of text below the columns."""
        return self.bottom + 0.25 + 0.2 * number + (0.06 if number > 2 else 0)

    def draw_boxes(self, boxes: Sequence[Box]) -> None:
        for column in range(self.columns):
            rows = [box.row for box in boxes if box.column == column]
            if rows:
                x, span = self.centre(column), (self.middle(min(rows)), self.middle(max(rows)))
                self.axes.plot([x, x], span, color="#BBBBBB", linewidth=self.style.line, zorder=1)
        for box in boxes:
            x, y = self.left(box.column), self.middle(box.row)
            self._box(x, y, self.colours[box.origin], new=box.new)
            if self.style.written:
                self._text(self.centre(box.column), y, box.name, 9, zorder=4,
                           color=_readable_on(self.colours[box.origin]))  # fmt: skip

    def draw_links(self, found: Sequence[Link]) -> None:
        """The links into one row: straight to the neighbour, else through the gutter above it."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        bent = lanes([link for link in found if not link.straight])
        spacing = self.style.gutter / (1 + max(bent.values(), default=0) + 1)
        for link in found:
            source, target = link.source, link.target
            start = (self.left(source.column) + self.style.width, self.middle(source.row))
            end = (self.left(target.column), self.middle(target.row))
            points, codes = [start, end], [Path.MOVETO, Path.LINETO]
            if link in bent:
                low = self.middle(target.row) - self.style.height / 2
                lane, half = low - spacing * (1 + bent[link]), self.style.gap / 2
                points = [start, (start[0] + half, start[1]), (start[0] + half / 3, lane),
                          (start[0] + 2 * half, lane), (end[0] - 2 * half, lane),
                          (end[0] - half / 3, lane), (end[0] - half, end[1]), end]  # fmt: skip
                codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3]
            colour = self.colours[source.origin]
            self.axes.add_patch(
                PathPatch(
                    Path(points, codes),
                    facecolor="none",
                    edgecolor=colour,
                    linewidth=self.style.line,
                    zorder=2,
                )
            )

    def tell(self, column: int, problem: SolvedProblem, kind: str) -> None:
        """A problem's number above its column; below, what it is and how well it is solved."""
        x, size = self.centre(column), 10 if self.style.written else 6.5
        self._text(x, ABOVE - 0.07, f"{column + 1}", size, weight="bold", color=INK)
        name, test, standalone, validation = problem.name, *accuracies(problem)
        if not self.style.written:
            label = "  ".join(filter(None, (name, kind, test)))
            self._text(x, self.bottom + 0.15, label, 6.5, rotation=90, va="top", color=INK)
            return
        for line, text in enumerate((*name.split("/", 1), kind)):
            self._text(x, self.line(line), text, 9, color=INK)
        self._text(x, self.line(3), f"{test} %", 11, weight="bold", color=INK)
        self._text(x, self.line(4), validation, 8, color=GREY)
        self._text(x, self.line(5), standalone, 8, color=GREY)

    def draw_frame(self, job: Job) -> None:
        """Title, rows' names and the key."""
        self._text(LEFT, 0.3, f"{job.algorithm} on {job.sequence}", 14, ha="left",
                   weight="bold", color=INK)  # fmt: skip
        about = (
            f"{job.suite}, realisation {job.realisation}, seed {job.seed}, scale {job.scale}, "
            f"data {job.images}, protocol {job.protocol}"
        )
        self._text(LEFT, 0.58, about, 8.5, ha="left", color=GREY)
        size = 9 if self.style.written else 7
        names = {ABOVE - 0.07: "problem"}
        names |= {self.middle(row): f"layer {row + 1}" for row in range(self.rows)}
        if self.style.written:
            names |= {self.line(3): "test", self.line(4): "validation", self.line(5): "SA’s"}
        for y, name in names.items():
            self._text(LEFT - 0.15, y, name, size, ha="right", color=GREY)
        self._key()

    def _key(self) -> None:
        """What colours, outlines and lines mean, along the foot."""
        y, x, side = self.height - 0.35, LEFT, 0.16
        for column in range(0, self.columns, 1 + self.columns // (MOST_SHORT + 1)):
            self._box(x, y, self.colours[column], width=1.5 * side, height=side)
            self._text(x + 0.75 * side, y, f"{column + 1}", 7, zorder=4,
                       color=_readable_on(self.colours[column]))  # fmt: skip
            x += 1.5 * side
        x = self._key_text(x, y, "trained on this problem")
        self._box(x, y, "white", new=True, width=0.3, height=side)
        x = self._key_text(x + 0.3, y, "new")
        self._box(x, y, "white", width=0.3, height=side)
        x = self._key_text(x + 0.3, y, "reused")
        self.axes.plot([x, x + 0.3], [y, y], color=INK, linewidth=self.style.line)
        self._key_text(x + 0.3, y, "the same module")

    def _key_text(self, x: float, y: float, text: str) -> float:
        self._text(x + 0.08, y, text, 8.5, ha="left", color=INK)
        return x + 0.08 + 0.065 * len(text) + 0.2

    def _box(
        self,
        x: float,
        y: float,
        colour: str,
        *,
        new: bool = False,
        width: float | None = None,
        height: float | None = None,
    ) -> None:
        """A box whose left edge's middle is at (x, y)."""
        from matplotlib.patches import Rectangle

        width, height = width or self.style.width, height or self.style.height
        line = self.style.new if new else 0.4
        self.axes.add_patch(
            Rectangle(
                (x, y - height / 2),
                width,
                height,
                facecolor=colour,
                edgecolor=INK,
                linewidth=line,
                zorder=3,
            )
        )

    def _text(self, x: float, y: float, text: str, size: float, **more: Any) -> None:
        self.axes.text(x, y, text, fontsize=size, **{"ha": "center", "va": "center", **more})


def accuracies(problem: SolvedProblem) -> tuple[str, str, str]:
    """In per cent: on test data, the standalone path's on validation data, and the winner's there.

    Empty where an algorithm notes no evaluations.
    """
    rows = [row for row in evaluated(problem) if "accuracy" in row]
    alone = [row["accuracy"] for row in rows if set(row["path"]) == {NEW}]
    found = [row["accuracy"] for row in rows]
    test = [each for each in (problem.accuracy_final, problem.accuracy_learnt) if each is not None]
    told = [f"{100 * max(some):.1f}" if some else "" for some in (test[:1], alone, found)]
    return told[0], told[1], told[2]


def _colours(count: int) -> list[str]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    if count <= len(PALETTE):
        return list(PALETTE[:count])
    ramp = colormaps["viridis"]
    shades = [ramp(0.97 * i / (count - 1)) for i in range(count)]
    # lighter, so that outlines show on the darkest
    return [to_hex((0.25 + 0.75 * r, 0.25 + 0.75 * g, 0.25 + 0.75 * b)) for r, g, b, _ in shades]


def _readable_on(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "white"
