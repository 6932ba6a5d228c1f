"""CTrL's two presets. The streams are the same in both; some baselines differ by them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CtrlProtocol:
    """A preset by name: algorithms look at it for what was published for them."""

    name: str
    summary: str


PROTOCOLS = {
    "paper": CtrlProtocol("paper", "what the paper says; its authors' code where it is silent"),
    "authors-code": CtrlProtocol("authors-code", "what the published code does, where it differs"),
}
