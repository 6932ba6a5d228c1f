"""Check an algorithm against every contract, and report the findings."""

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
from bell_bench_authors.testing import contracts
from bell_bench_authors.testing.contracts import Contract, Session
from bell_bench_authors.testing.isolation import Asked, look_apart
from bell_bench_authors.testing.tiny_job import Broken, Fault, NotApplicable, Subject, Tell, silent
from bell_bench_authors.testing.tiny_problems import world_for

_BY_NAME: dict[str, Contract] = {
    contract.__name__.replace("_", "-"): contract for contract in contracts.ALL
}
CLASS = "class "
"""The prefix of a class's import string, which tells it from the names of registered algorithms."""
CONTRACTS = tuple(_BY_NAME)
"""The names of all contracts, in the order in which they are checked."""


class ContractBroken(AssertionError):
    """An algorithm breaks a contract; the message says which, how, and what explains it."""


@dataclass(frozen=True)
class Finding:
    """What the check of one contract found."""

    contract: str
    status: str
    """kept, broken, not applicable, or not run because a fault of another contract came first."""
    detail: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The text of the contract."""
        return contract_text(self.contract)

    @property
    def where(self) -> str:
        """The command that explains the contract, wherever the documentation is."""
        return f"bell-bench check --explain {self.contract}"

    @property
    def facts(self) -> dict[str, Any]:
        """The finding as a dictionary for JSON."""
        return {**asdict(self), "text": self.text, "where": self.where}

    def __str__(self) -> str:
        if self.status != "broken":
            return f"{self.contract}: {self.status}{': ' if self.detail else ''}{self.detail}"
        return (
            f"contract {self.contract} is broken: {self.detail}\n"
            f"the contract: {self.text}\nsee {self.where}"
        )


def contract_text(name: str) -> str:
    """Return a contract as people read it."""
    return explanation(name)[0]


def explanation(name: str) -> list[str]:
    """Return a contract and its explanation in paragraphs, as in docs/contracts.md."""
    text = (inspect.getdoc(_contract(name)) or "").replace("``", "`")
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def examine(
    algorithm: str | type[Algorithm], names: tuple[str, ...] = CONTRACTS
) -> Iterator[Finding]:
    """Check contract after contract, and yield each finding when it is known.

    The checks run in another process, so that a call that takes over 90 s or ends the process
    becomes a finding. They run in this process if no other can import the class.
    """
    for name in names:
        _contract(name)
    subject, spec = _subject(algorithm)
    with tempfile.TemporaryDirectory(
        prefix="bell-bench-check-",
        ignore_cleanup_errors=True,  # an ended process may still be writing
    ) as folder:
        runs = pathlib.Path(folder).resolve() / "runs"
        write_json(runs / "another-job" / "record.json", {})  # no algorithm may open this
        if subject.address is None:
            yield from look(session_of(algorithm, runs), names)
        else:
            asked = Asked(subject.address, spec.load, names, str(runs))
            yield from (Finding(**found) for found in look_apart(asked))


def look(session: Session, names: Sequence[str]) -> Iterator[Finding]:
    """Check contracts in this process, without a time limit."""
    verdicts = Verdicts(session)
    for name in names:
        started = time.perf_counter()
        status, detail = verdicts[name]
        yield Finding(name, status, detail, time.perf_counter() - started)


def session_of(
    algorithm: str | type[Algorithm], runs: pathlib.Path, tell: Tell = silent
) -> Session:
    """Return a session that checks an algorithm, given by name, by import string or as a class."""
    subject, spec = _subject(algorithm)
    return Session(subject, world_for(spec.suites), runs, dict(spec.options), tell)


def check_algorithm(algorithm: str | type[Algorithm], contract: str | None = None) -> None:
    """Raise ``ContractBroken`` if the algorithm, given by name or as a class, breaks the named
    contract; without a name, if it breaks any."""
    found = examine(algorithm, CONTRACTS if contract is None else (contract,))
    broken = [str(finding) for finding in found if finding.status in ("broken", "not run")]
    if broken:
        raise ContractBroken("\n\n".join(broken))


class Verdicts(dict[str, tuple[str, str]]):
    """Status and detail by contract. Each contract is checked once, on the first access."""

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
    """Return the class and its spec; a bare class declares options in its attribute ``options``."""
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
    if isinstance(kind, functools.partial):  # a member of a family, such as avalanche:Naive
        member, kind = kind, kind.func
    if not (isinstance(kind, type) and issubclass(kind, Algorithm)):
        raise UsageError(f"{spec.load} is not a subclass of bell_bench.Algorithm")
    return Subject(spec.name, kind, complete(spec, {}), member, address), spec


def _address(kind: type) -> str | None:
    """Return a class as another process can import it; None if only this process can, because the
    class is local or its module is known here alone."""
    module, name = kind.__module__, kind.__qualname__
    here = getattr(sys.modules.get(module), name, None) is kind and module != "__main__"
    top = module.partition(".")[0]
    able = here and any(finder.find_spec(top, None) for finder in sys.meta_path)
    return f"{CLASS}{module}:{name}" if able else None
