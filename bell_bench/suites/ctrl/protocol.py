"""CTrL's two presets, which differ in one baseline alone."""

from __future__ import annotations

from dataclasses import dataclass

from bell_bench.suites.bell.protocol import row


@dataclass(frozen=True)
class CtrlProtocol:
    """What the paper and its authors' code leave to the algorithms, as BELL's protocol has it."""

    name: str
    summary: str
    ewc_fisher: str = row(
        "O-EWC's Fisher after a problem: accumulate with decay, or replace", "accumulate"
    )
    er_per_class: int = row("ER's stored examples per class", 15)


PROTOCOLS = {
    "paper": CtrlProtocol("paper", "what the paper says; its authors' code where it is silent"),
    "authors-code": CtrlProtocol(
        "authors-code", "what the published code does, where it differs", ewc_fisher="replace"
    ),
}
