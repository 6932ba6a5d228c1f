"""Counting floating-point operations by torch's formulas, and saying what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch.utils.flop_counter import FlopCounterMode

OWN_COUNTER = True
"""Whether torch has what ours is built on, which it does not promise."""
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
"""Operators that compute nothing, besides views, which their schema tells."""


@dataclass(frozen=True)
class FlopCount:
    """Operations of one call, and how far they can be trusted."""

    flops: float
    coverage: float
    """The share of executed operators with a formula; views, allocations and copies aside."""
    uncounted: tuple[str, ...]
    """The operators without a formula."""


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Applies the formulas of torch's FLOP counter to executed operators, and notes the others.

    torch's own FlopCounterMode counts the same, but does not tell what it leaves out.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0
        self.counted = 0
        self.uncounted: Counter[str] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; to have that skipped would import torch's compiler."""
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
    """The operations that one call of ``function`` takes.

    Where ours cannot be built, torch's own counter counts the same, and nothing is known
    to be covered.
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
