"""A job: one algorithm on one realisation of one sequence, with one seed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Job:
    """All that determines a result. Limits and the number of processes do not belong here."""

    algorithm: str
    load: str
    provider: str
    """The distribution and version that registered the algorithm, or its file."""
    suite: str
    suite_version: str
    sequence: str
    realisation: int
    realisation_seed: int
    seed: int
    scale: str
    data: str
    protocol: str
    options: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    threads: int = 1
    software: str = ""
    """Versions that a result depends on: another one makes another job."""
    imported: Mapping[str, str] = field(default_factory=dict)
    """The domains whose images somebody imported, each with a hash of these: ``data`` names a
    source, and what is imported there may be anything."""

    @property
    def key(self) -> str:
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def name(self) -> str:
        """The job's folder: readable, and different for different settings."""
        parts = (self.suite, self.sequence, self.algorithm, f"r{self.realisation}", f"s{self.seed}")
        readable = "-".join(re.sub(r"[^A-Za-z0-9_.+]", "_", part) for part in parts)
        return f"{readable}-{self.key[:8]}"

    def to_json(self) -> dict[str, Any]:
        content = asdict(self)
        if not self.imported:  # most jobs' hashes are older than this field
            del content["imported"]
        return content

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Job:
        return Job(**data)
