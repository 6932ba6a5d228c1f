"""Holding an algorithm to every contract, and telling what was found."""

from __future__ import annotations

import functools
import inspect
import pathlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bell_bench.algorithm import Algorithm
from bell_bench.errors import UsageError, unknown
from bell_bench.loading import load_object
from bell_bench.options import complete
from bell_bench.plugins import registry
from bell_bench.specs import AlgorithmSpec
from bell_bench.testing import contracts
from bell_bench.testing.contracts import Contract, NotRun, Session
from bell_bench.testing.trial import Broken, NotApplicable, Subject
from bell_bench.testing.worlds import world_for

_BY_NAME: dict[str, Contract] = {
    contract.__name__.replace("_", "-"): contract for contract in contracts.ALL
}
CONTRACTS = tuple(_BY_NAME)
"""The names of all contracts, in the order in which they are looked at."""


class ContractBroken(AssertionError):
    """An algorithm breaks a contract; the message says which, how, and where it is documented."""


@dataclass(frozen=True)
class Finding:
    """How an algorithm stands to one contract."""

    contract: str
    status: str
    """kept, broken, not applicable, or not run since a simpler contract is broken."""
    detail: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The contract itself."""
        return contract_text(self.contract)

    @property
    def where(self) -> str:
        """The place in the documentation."""
        return f"docs/contracts.md#{self.contract}"

    def __str__(self) -> str:
        if self.status != "broken":
            return f"{self.contract}: {self.status}{': ' if self.detail else ''}{self.detail}"
        return (
            f"contract {self.contract} is broken: {self.detail}\n"
            f"the contract: {self.text}\nsee {self.where}"
        )


def contract_text(name: str) -> str:
    """A contract as people read it."""
    text = inspect.getdoc(_contract(name)) or ""
    return " ".join(text.partition("\n\n")[0].split())


def examine(
    algorithm: str | type[Algorithm], names: tuple[str, ...] = CONTRACTS
) -> Iterator[Finding]:
    """Look at contract after contract, and give each finding when it is known."""
    chosen = {name: _contract(name) for name in names}
    subject, spec = _subject(algorithm)
    with tempfile.TemporaryDirectory(prefix="bell-bench-check-") as folder:
        house = pathlib.Path(folder).resolve() / "runs"
        session = Session(subject, world_for(spec.suites), house, dict(spec.options))
        for name, contract in chosen.items():
            started = time.perf_counter()
            status, detail = _look(contract, session)
            yield Finding(name, status, detail, time.perf_counter() - started)


def check_algorithm(algorithm: str | type[Algorithm], contract: str | None = None) -> None:
    """Raise ``ContractBroken`` if the algorithm, by name or as a class, breaks any contract, or
    the one named."""
    found = examine(algorithm, CONTRACTS if contract is None else (contract,))
    broken = [str(finding) for finding in found if finding.status in ("broken", "not run")]
    if broken:
        raise ContractBroken("\n\n".join(broken))


def _look(contract: Contract, session: Session) -> tuple[str, str]:
    try:
        contract(session)
    except Broken as fault:
        return "broken", str(fault)
    except NotApplicable as reason:
        return "not applicable", str(reason)
    except NotRun as reason:
        return "not run", str(reason)
    return "kept", ""


def _contract(name: str) -> Contract:
    if name not in _BY_NAME:
        raise unknown("contract", name, CONTRACTS)
    return _BY_NAME[name]


def _subject(algorithm: str | type[Algorithm]) -> tuple[Subject, AlgorithmSpec]:
    """The class and its spec; a class by itself declares options in its attribute ``options``."""
    if isinstance(algorithm, str):
        spec = registry().algorithm(algorithm).spec
        kind = load_object(spec.load)
    else:
        kind, declared = algorithm, getattr(algorithm, "options", {})
        spec = AlgorithmSpec(
            kind.__name__, f"{kind.__module__}:{kind.__name__}", "", options=declared
        )
    member = None
    if isinstance(kind, functools.partial):  # one of a family, such as avalanche:Naive
        member, kind = kind, kind.func
    if not (isinstance(kind, type) and issubclass(kind, Algorithm)):
        raise UsageError(f"{spec.load} is no subclass of bell_bench.Algorithm")
    return Subject(spec.name, kind, complete(spec, {}), member), spec
