"""What a plugin declares: names and import strings, so that listing imports nothing heavy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_IMPORT = re.compile(r"([A-Za-z_][\w.]*|file:.+\.py):[A-Za-z_]\w*")


def check_name(kind: str, name: object) -> None:
    """Names reach file names and tables: letters, digits, ``_ . + -`` only."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{kind} name {name!r} must be letters, digits and _ . + - only")


def _check_import(load: object) -> None:
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
class AlgorithmSpec:
    """An algorithm by name. ``load`` is imported only in the job that runs it."""

    name: str
    load: str
    summary: str
    paper: str = ""
    suites: tuple[str, ...] = ()
    """The suites it supports; empty for all."""
    options: Mapping[str, Option] = field(default_factory=dict)
    work: str = ""
    """An import string of a function that says how much it trains (see ``PlannedProblem``)."""

    def __post_init__(self) -> None:
        check_name("algorithm", self.name)
        _check_import(self.load)
        if self.work:
            _check_import(self.work)
        for name, option in self.options.items():
            check_name("option", name)
            if not isinstance(option, Option):
                raise ValueError(f"option {name!r} of {self.name} must be an Option")


@dataclass(frozen=True)
class DomainSpec:
    """A domain of images. ``load`` names a function without arguments that gives its arrays:
    a mapping of train_images, train_labels, test_images, test_labels (as ``data import`` takes)."""

    name: str
    load: str
    summary: str
    source: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        check_name("domain", self.name)
        _check_import(self.load)


@dataclass(frozen=True)
class SuiteSpec:
    """A suite of sequences. ``load`` names an object with the interface of
    ``bell_bench.suites.base.Suite``; its module must not import torch at its top."""

    name: str
    load: str
    summary: str

    def __post_init__(self) -> None:
        check_name("suite", self.name)
        _check_import(self.load)
