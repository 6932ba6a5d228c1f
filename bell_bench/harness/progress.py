"""Show a person how far jobs have come: bars on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from bell_bench.records import Job, Record

if TYPE_CHECKING:
    from rich.progress import TaskID


def duration(seconds: float) -> str:
    """Return a duration as a clock shows it: 1:02:03 or 2:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


Tell: TypeAlias = Callable[[str, int, int], None]
"""Called with what was done last, how much is done, and how much there is."""
WAITING = "another run is at work on it; waiting"


@dataclass
class Standing:
    """How far one running job has come."""

    problems: int = 0
    solved: int = 0
    before: int = 0
    """How many of the solved problems an earlier run solved."""
    tried: set[str] = field(default_factory=set)
    """The different paths of this problem; a path that is asked for twice costs once."""
    best: float | None = None
    name: str = ""

    def take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "started":
            self.problems = event["problems"]
            self.solved = self.before = event["solved"]
        elif kind == "waiting":
            self.name = WAITING
        elif kind == "problem":
            self.name, self.tried, self.best = event["name"], set(), None
        elif kind == "path":
            self.tried.add(event["path"])
            self.best = max(self.best or 0.0, event["accuracy"])
        elif kind == "solved":
            self.solved = event["index"] + 1

    @property
    def paths(self) -> str:
        """How many paths were tried, as ``show`` counts them."""
        return "1 path" if len(self.tried) == 1 else f"{len(self.tried)} paths"

    def __str__(self) -> str:
        if not self.problems:
            return self.name
        best = "" if self.best is None else f", best {100 * self.best:.1f}%"
        return f"{self.name}: {self.paths}{best}"


@dataclass
class Progress:
    """Counts what is done; the subclasses show it. Also a context manager."""

    jobs: Sequence[Job]
    kept: int = 0
    """Jobs finished by an earlier run."""
    to_solve: dict[str, int] = field(kw_only=True)
    """How many problems this run has to solve of each job, by the job's name."""
    standing: dict[str, Standing] = field(default_factory=dict)
    finished: int = 0
    solved: int = 0
    """How many problems the ended jobs have solved in this run."""
    began: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def label(self, job: Job) -> str:
        """Return a job's name for a line; it has the protocol if there are several."""
        named = f"{job.algorithm} {job.sequence} r{job.realisation} s{job.seed}"
        return f"{named} {job.protocol}" if self._several else named

    @functools.cached_property
    def _several(self) -> bool:
        return len({job.protocol for job in self.jobs}) > 1

    def _lost(self, job: Job, event: dict[str, Any]) -> str:
        return f"{self.label(job)}: its node was lost, starting again ({event['reason']})"

    def event(self, job: Job, event: dict[str, Any]) -> None:
        standing = self.standing.setdefault(job.name, Standing())
        standing.take(event)
        if event["event"] == "started":
            self.to_solve[job.name] = standing.problems - standing.before

    def end(self, job: Job, record: Record) -> None:
        standing = self.standing.pop(job.name, Standing())
        if record.status != "done":  # its other problems will not be solved
            self.to_solve[job.name] = standing.solved - standing.before
        self.finished += 1
        self.solved += self.to_solve[job.name]

    @property
    def all_done(self) -> bool:
        return self.finished == len(self.jobs)

    @property
    def time_left(self) -> float | None:
        """The seconds left, estimated from problems: a job may have six or a hundred."""
        running = self.standing.values()
        solved = self.solved + sum(standing.solved - standing.before for standing in running)
        if not solved:
            return None
        ahead = sum(self.to_solve.values()) - solved
        return (time.monotonic() - self.began) * ahead / solved


class PlainProgress(Progress):
    """Prints a line per solved problem and per finished job."""

    def __enter__(self) -> Progress:
        kept = f", {self.kept} already done" if self.kept else ""
        self._say(f"{len(self.jobs)} jobs to run{kept}")
        return self

    def event(self, job: Job, event: dict[str, Any]) -> None:
        super().event(job, event)
        if event["event"] == "started" and event["solved"]:
            self._say(f"{self.label(job)}: resumed after problem {event['solved']}")
        if event["event"] == "waiting":
            self._say(f"{self.label(job)}: {WAITING}")
        if event["event"] == "lost":
            self._say(self._lost(job, event))
        if event["event"] == "solved":
            standing = self.standing[job.name]
            self._say(
                f"{self.label(job)}: problem {standing.solved}/{standing.problems} {event['name']} "
                f"{100 * event['accuracy']:.1f}% ({standing.paths})"
            )

    def end(self, job: Job, record: Record) -> None:
        super().end(job, record)
        left = self.time_left
        reason = f": {record.reason}" if record.reason else ""
        ahead = "" if self.all_done or left is None else f", about {duration(left)} left"
        self._say(f"{self.label(job)}: {record.status}{reason} "
                  f"[{self.finished}/{len(self.jobs)} jobs{ahead}]")  # fmt: skip

    def _say(self, line: str) -> None:
        """Print a line; without a reader or disk space, the run goes on all the same."""
        text = f"{duration(time.monotonic() - self.began):>7}  {line}"
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


class BarProgress(Progress):
    """Shows one bar for all jobs and one for each job that runs."""

    def __enter__(self) -> Progress:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            console=_stderr(),
            transient=False,
        )
        self._bars.start()
        kept = f"{self.kept} already done" if self.kept else ""
        self._all = self._bars.add_task("jobs", total=len(self.jobs), note=kept)
        self._tasks: dict[str, TaskID] = {}
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def event(self, job: Job, event: dict[str, Any]) -> None:
        super().event(job, event)
        standing = self.standing[job.name]
        if event["event"] == "lost":
            self._bars.console.print(self._lost(job, event), markup=False)
        if job.name not in self._tasks:
            self._tasks[job.name] = self._bars.add_task(self.label(job), total=None, note="")
        self._bars.update(
            self._tasks[job.name],
            total=standing.problems,
            completed=standing.solved,
            note=str(standing),
        )
        self._tell_time()

    def end(self, job: Job, record: Record) -> None:
        super().end(job, record)
        if job.name in self._tasks:
            self._bars.remove_task(self._tasks.pop(job.name))
        if record.status != "done":
            self._bars.console.print(
                f"{self.label(job)}: {record.status}: {record.reason}", markup=False
            )
        self._bars.update(self._all, completed=self.finished)
        self._tell_time()

    def _tell_time(self) -> None:
        left = self.time_left
        if left is not None:
            self._bars.update(self._all, note=f"about {duration(left)} left")


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True)


def make_progress(
    jobs: Sequence[Job], kept: int, to_solve: dict[str, int], quiet: bool
) -> Progress:
    """Return the progress display that suits standard error."""
    kind = Progress if quiet else BarProgress if sys.stderr.isatty() else PlainProgress
    return kind(jobs, kept, to_solve=to_solve)


@contextmanager
def steps(quiet: bool = False) -> Iterator[Tell]:
    """Yield a function that reports steps: with a bar on a terminal, else with a few lines."""
    if quiet or not sys.stderr.isatty():
        yield silent if quiet else _Lines()
        return
    from rich.progress import Progress as Bars

    with Bars(console=_stderr(), transient=True) as bars:
        task = bars.add_task("starting", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bars.update(task, description=what, completed=done, total=total)

        yield tell


def silent(what: str, done: int, total: int | None) -> None:
    """Report progress to nobody."""


class _Lines:
    """Prints a line at the beginning, at the end, and at most one every few seconds between."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self.last >= self.SECONDS:
            self.last = now
            print(f"{done}/{total}  {what}", file=sys.stderr, flush=True)
