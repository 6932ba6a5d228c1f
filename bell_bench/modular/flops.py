"""Count floating-point operations by torch's formulas, and name the operators without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch.utils.flop_counter import FlopCounterMode

OWN_COUNTER = True
"""Whether torch has the private names that our counter is built on."""
try:
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry
except ImportError:
    OWN_COUNTER, TorchDispatchMode = False, object  # type: ignore[misc, assignment]

ALLOCATES = {"empty", "empty_like", "empty_strided", "new_empty", "zeros", "new_zeros"}
FILLS = {"zeros_like", "ones", "ones_like", "full", "full_like", "fill_", "zero_", "arange"}
MOVES = {"clone", "copy_", "_to_copy", "_unsafe_view", "cat", "index_select", "index", "gather"}
RECORDS = {"_record_function_enter_new", "_record_function_exit", "detach", "lift_fresh"}
NO_ARITHMETIC = ALLOCATES | FILLS | MOVES | RECORDS
"""Operators that compute nothing; views, which their schema marks, come on top of these."""


@dataclass(frozen=True)
class FlopCount:
    """The operations of one call, and how far their count can be trusted."""

    flops: float
    coverage: float
    """The share of executed operators with a formula, apart from views, allocations and copies."""
    uncounted: tuple[str, ...]
    """The operators without a formula."""


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Applies the formulas of torch's FLOP counter to executed operators, and notes the others.

    torch's own FlopCounterMode counts the same, but does not report what it leaves out.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0
        self.counted = 0
        self.uncounted: Counter[str] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing is compiled here, and True would import torch's compiler."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        operator = func.overloadpacket
        if operator in flop_registry:
            self.flops += flop_registry[operator](*args, **kwargs, out_val=output)
            self.counted += 1
        elif not func.is_view and operator.__name__ not in NO_ARITHMETIC:
            self.uncounted[operator.__name__] += 1
        return output


def count(function: Callable[[], object]) -> FlopCount:
    """Return the operations of one call of ``function``.

    If our counter cannot be built, torch's own counter counts the same; the coverage is then
    unknown.
    """
    if not OWN_COUNTER:
        with FlopCounterMode(display=False) as theirs:
            function()
        return FlopCount(float(theirs.get_total_flops()), coverage=0.0, uncounted=("unknown",))
    with _Counter() as counter:
        function()
    total = counter.counted + counter.uncounted.total()
    return FlopCount(
        flops=float(counter.flops),
        coverage=counter.counted / total if total else 1.0,
        uncounted=tuple(sorted(counter.uncounted)),
    )
