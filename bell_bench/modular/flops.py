"""Counting floating-point operations with torch's counter, and saying what it does not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

ALLOCATES = {"empty", "empty_like", "empty_strided", "new_empty", "zeros", "new_zeros"}
FILLS = {"zeros_like", "ones", "ones_like", "full", "full_like", "fill_", "zero_", "arange"}
MOVES = {"clone", "copy_", "_to_copy", "_unsafe_view", "cat", "index_select", "index", "gather"}
RECORDS = {"_record_function_enter_new", "_record_function_exit", "detach", "lift_fresh"}
NO_ARITHMETIC = ALLOCATES | FILLS | MOVES | RECORDS
"""Operators that compute nothing, besides views, which their schema tells."""


@dataclass(frozen=True)
class FlopCount:
    """Operations of one call, and how far they can be trusted."""

    flops: float
    coverage: float
    """The share of executed operators with a formula; views, allocations and copies aside."""
    uncounted: tuple[str, ...]
    """The operators without a formula."""


class _Executed(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts executed operators that compute something."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.with_formula = 0
        self.without: Counter[str] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        if func.overloadpacket in flop_registry:
            self.with_formula += 1
        elif not func.is_view and name not in NO_ARITHMETIC:
            self.without[name] += 1
        return func(*args, **(kwargs or {}))


def count(function: Callable[[], object]) -> FlopCount:
    """The operations that one call of ``function`` takes."""
    with FlopCounterMode(display=False) as counter, _Executed() as executed:
        function()
    total = executed.with_formula + executed.without.total()
    return FlopCount(
        flops=float(counter.get_total_flops()),
        coverage=executed.with_formula / total if total else 1.0,
        uncounted=tuple(sorted(executed.without)),
    )
