"""Holding an algorithm to every contract, and telling what was found."""

from __future__ import annotations

import functools
import inspect
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from bell_bench.algorithm import Algorithm
from bell_bench.errors import UsageError, unknown
from bell_bench.files import write_json
from bell_bench.import_strings import load_object
from bell_bench.options import complete
from bell_bench.plugins import registry
from bell_bench.specs import AlgorithmSpec
from bell_bench.testing import contracts
from bell_bench.testing.contracts import Contract, Session
from bell_bench.testing.isolation import Asked, look_apart
from bell_bench.testing.tiny_job import Broken, Fault, NotApplicable, Subject, Tell, silent
from bell_bench.testing.tiny_problems import world_for

_BY_NAME: dict[str, Contract] = {
    contract.__name__.replace("_", "-"): contract for contract in contracts.ALL
}
CLASS = "class "
"""How an import string of a class begins, to tell it from the names of registered algorithms."""
CONTRACTS = tuple(_BY_NAME)
"""The names of all contracts, in the order in which they are looked at."""


class ContractBroken(AssertionError):
    """An algorithm breaks a contract; the message says which, how, and which command tells more."""


@dataclass(frozen=True)
class Finding:
    """How an algorithm stands to one contract."""

    contract: str
    status: str
    """kept, broken, not applicable, or not run since another contract's fault came before."""
    detail: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The contract itself."""
        return contract_text(self.contract)

    @property
    def where(self) -> str:
        """The command that tells more, wherever the documentation is."""
        return f"bell-bench check --explain {self.contract}"

    @property
    def facts(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {**asdict(self), "text": self.text, "where": self.where}

    def __str__(self) -> str:
        if self.status != "broken":
            return f"{self.contract}: {self.status}{': ' if self.detail else ''}{self.detail}"
        return (
            f"contract {self.contract} is broken: {self.detail}\n"
            f"the contract: {self.text}\nsee {self.where}"
        )


def contract_text(name: str) -> str:
    """A contract as people read it."""
    return explanation(name)[0]


def explanation(name: str) -> list[str]:
    """A contract and what to know of it, in paragraphs, as in docs/contracts.md."""
    text = (inspect.getdoc(_contract(name)) or "").replace("``", "`")
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def examine(
    algorithm: str | type[Algorithm], names: tuple[str, ...] = CONTRACTS
) -> Iterator[Finding]:
    """Look at contract after contract, and give each finding when it is known.

    In another process, so that a call that takes over 90 s is a finding, as one that ends the
    process is; in this one if no other can import the class.
    """
    for name in names:
        _contract(name)
    subject, spec = _subject(algorithm)
    with tempfile.TemporaryDirectory(
        prefix="bell-bench-check-",
        ignore_cleanup_errors=True,  # what was ended may still be going
    ) as folder:
        house = pathlib.Path(folder).resolve() / "runs"
        write_json(house / "another-job" / "record.json", {})  # there for any that would look
        if subject.address is None:
            yield from look(session_of(algorithm, house), names)
        else:
            asked = Asked(subject.address, spec.load, names, str(house))
            yield from (Finding(**found) for found in look_apart(asked))


def look(session: Session, names: Sequence[str]) -> Iterator[Finding]:
    """The same in this process, for as long as it takes."""
    verdicts = Verdicts(session)
    for name in names:
        started = time.perf_counter()
        status, detail = verdicts[name]
        yield Finding(name, status, detail, time.perf_counter() - started)


def session_of(
    algorithm: str | type[Algorithm], house: pathlib.Path, tell: Tell = silent
) -> Session:
    """An examination of an algorithm: by name, by import string or as a class."""
    subject, spec = _subject(algorithm)
    return Session(subject, world_for(spec.suites), house, dict(spec.options), tell)


def check_algorithm(algorithm: str | type[Algorithm], contract: str | None = None) -> None:
    """Raise ``ContractBroken`` if the algorithm, by name or as a class, breaks any contract, or
    the one named."""
    found = examine(algorithm, CONTRACTS if contract is None else (contract,))
    broken = [str(finding) for finding in found if finding.status in ("broken", "not run")]
    if broken:
        raise ContractBroken("\n\n".join(broken))


class Verdicts(dict[str, tuple[str, str]]):
    """Status and detail by contract, each looked at once, when it is asked for."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __missing__(self, name: str) -> tuple[str, str]:
        try:
            note = _contract(name)(self._session)
        except Fault as fault:
            self[name] = "broken", str(fault)
            if fault.contract != name and self[fault.contract][0] == "broken":
                self[name] = "not run", f"{fault} (see contract {fault.contract})"
        except Broken as fault:
            self[name] = "broken", str(fault)
        except NotApplicable as reason:
            self[name] = "not applicable", str(reason)
        else:
            self[name] = "kept", note or ""
        return self[name]


def _contract(name: str) -> Contract:
    if name not in _BY_NAME:
        raise unknown("contract", name, CONTRACTS)
    return _BY_NAME[name]


def _subject(algorithm: str | type[Algorithm]) -> tuple[Subject, AlgorithmSpec]:
    """The class and its spec; a class by itself declares options in its attribute ``options``."""
    if isinstance(algorithm, str) and algorithm.startswith(CLASS):
        algorithm = cast("type[Algorithm]", load_object(algorithm.removeprefix(CLASS)))
    if isinstance(algorithm, str):
        address: str | None = algorithm
        spec = registry().algorithm(algorithm).spec
        kind = load_object(spec.load)
    else:
        kind, declared = algorithm, getattr(algorithm, "options", {})
        address = _address(kind)
        spec = AlgorithmSpec(
            kind.__name__, f"{kind.__module__}:{kind.__name__}", "", options=declared
        )
    member = None
    if isinstance(kind, functools.partial):  # one of a family, such as avalanche:Naive
        member, kind = kind, kind.func
    if not (isinstance(kind, type) and issubclass(kind, Algorithm)):
        raise UsageError(f"{spec.load} is no subclass of bell_bench.Algorithm")
    return Subject(spec.name, kind, complete(spec, {}), member, address), spec


def _address(kind: type) -> str | None:
    """A class as another process can import it; None if it is made where it is used, or if its
    module is known to this process alone."""
    module, name = kind.__module__, kind.__qualname__
    here = getattr(sys.modules.get(module), name, None) is kind and module != "__main__"
    top = module.partition(".")[0]
    able = here and any(finder.find_spec(top, None) for finder in sys.meta_path)
    return f"{CLASS}{module}:{name}" if able else None
