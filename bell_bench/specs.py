"""What a plugin declares: names and import strings, so that listing imports nothing heavy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_IMPORT = re.compile(r"([A-Za-z_][\w.]*|file:.+\.py):[A-Za-z_]\w*")


def check_name(kind: str, name: object) -> None:
    """Names reach file names and tables: letters, digits, ``_ . + -`` only."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{kind} name {name!r} must be letters, digits and _ . + - only")


def check_import(load: object) -> None:
    """Raise ValueError if this is not an import string."""
    if not isinstance(load, str) or not _IMPORT.fullmatch(load):
        raise ValueError(f"load={load!r} must be an import string 'package.module:Name'")


@dataclass(frozen=True)
class Option:
    """One option of an algorithm: typed, with a default and a sentence of help."""

    type: type
    """bool, int, float or str."""
    default: Any
    help: str
    choices: tuple[Any, ...] = ()
    optional: bool = False
    """Whether ``none`` is a valid value."""
    minimum: float | None = None
    """The smallest number allowed."""
    above: float | None = None
    """Every number must be larger than this."""
    maximum: float | None = None
    """The largest number allowed."""

    def __post_init__(self) -> None:
        if self.type not in (bool, int, float, str):
            raise ValueError(f"an option's type must be bool, int, float or str, not {self.type!r}")


@dataclass(frozen=True)
class Spec:
    """What every hook's specs have: a name, an import string and a line for listings. What
    ``load`` names is imported only where it is used."""

    kind: ClassVar[str] = "plugin"

    name: str
    load: str
    summary: str

    def __post_init__(self) -> None:
        self.check_name()
        check_import(self.load)

    def check_name(self) -> None:
        """Raise ValueError if the name is not one."""
        check_name(self.kind, self.name)


@dataclass(frozen=True)
class AlgorithmSpec(Spec):
    """An algorithm by name. ``load`` names a subclass of ``bell_bench.Algorithm``."""

    kind = "algorithm"

    paper: str = ""
    suites: tuple[str, ...] = ()
    """The suites it supports; empty for all."""
    options: Mapping[str, Option] = field(default_factory=dict)
    work: str = ""
    """An import string of a function that says how much it trains (see ``PlannedProblem``)."""

    def check_name(self) -> None:
        """Raise ValueError if the name is not one; a member of a family has a prefix."""
        for part in str(self.name).split(":", 1):
            check_name(self.kind, part)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.work:
            check_import(self.work)
        for name, option in self.options.items():
            check_name("option", name)
            if not isinstance(option, Option):
                raise ValueError(f"option {name!r} of {self.name} must be an Option")


@dataclass(frozen=True)
class AlgorithmFamilySpec(Spec):
    """Algorithms of another library, too many to register: each is asked for as ``FAMILY:NAME``.

    ``load`` names a function from ``NAME`` to the ``AlgorithmSpec`` of ``FAMILY:NAME``, which
    raises UsageError for a name that it does not know.
    """

    kind = "family of algorithms"

    members: str = ""
    """An import string of a function that returns all members, for ``bell-bench list``: rows with
    ``name``, ``summary`` and, of a member that does not run here, the ``reason``."""
    distribution: str = ""
    """The distribution that defines the members, whose version decides what they do; the plugin's
    own if empty."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members:
            check_import(self.members)


@dataclass(frozen=True)
class DomainSpec(Spec):
    """A domain of images. ``load`` names a function without arguments that gives its arrays:
    a mapping of train_images, train_labels, test_images, test_labels (as ``data import`` takes)."""

    kind = "domain"

    source: str = ""
    licence: str = ""


@dataclass(frozen=True)
class SourceSpec(Spec):
    """A source of images, for ``--data NAME``. ``load`` names an object with the interface of
    ``bell_bench.data.sources.ImageSource``. Every suite whose images have one of the ``shapes``
    offers the source."""

    kind = "data source"

    shapes: tuple[tuple[int, ...], ...] = ()
    """The shapes of its images: ``(28, 28)`` for BELL, ``(32, 32, 3)`` for CTrL."""
    licence: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.shapes or not all(isinstance(shape, tuple) for shape in self.shapes):
            raise ValueError(f"the shapes of {self.name} are {self.shapes!r}, not like ((28, 28),)")


@dataclass(frozen=True)
class SuiteSpec(Spec):
    """A suite of sequences. ``load`` names an object with the interface of
    ``bell_bench.suites.base.Suite``; its module must not import torch at its top."""

    kind = "suite"


@dataclass(frozen=True)
class ExecutorSpec(Spec):
    """A place to run jobs. ``load`` names a class or function that takes a ``ResultStore``,
    ``JobLimits``, the number of ``workers`` (None for as many as fit) and an ``address`` (None
    for the usual one), and gives a ``bell_bench.harness.executors.Executor``."""

    kind = "executor"


@dataclass(frozen=True)
class VerbSpec(Spec):
    """A command of ``bell-bench``. ``load`` names a click command."""

    kind = "verb"

    functions: Mapping[str, str] = field(default_factory=dict)
    """What the verb does, from Python: functions that ``bell_bench`` offers under these names, as
    import strings."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for load in self.functions.values():
            check_import(load)


@dataclass(frozen=True)
class NoteSpec(Spec):
    """How ``bell-bench show`` tells a note that algorithms make under this name. ``load`` names a
    function of the note and of whether all of it is wanted, which returns text, or "" for what it
    does not know."""

    kind = "note"


@dataclass(frozen=True)
class PictureSpec(Spec):
    """A picture of a job. ``load`` names a function of its record, the file to write, and the kind
    of each problem where the suite tells it; it raises UsageError where there is nothing to draw.
    """

    kind = "picture"

    algorithms: tuple[str, ...] = ()
    """The algorithms that it is of; empty for all. ``bell-bench show --picture`` takes the first
    that names the job's algorithm, else the first that is of all."""


@dataclass(frozen=True)
class ResultsSpec(Spec):
    """What shows results: ``load`` names a class that is made of records, the folder of the job
    folders, and the versions of the installed suites (``bell_bench_leaderboard.Results``).
    Another distribution's takes the place of ours."""

    kind = "results"
