"""A job: one algorithm on one realisation of one sequence, with one seed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec

from bell_bench.records.structs import JsonStruct

STANDALONE = "bell-bench:sa"
"""The algorithm whose run on the same problems Tr⁻¹ compares with."""

Number = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
T = TypeVar("T")


class Job(JsonStruct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that determines a result. Limits and the number of processes are not part of it."""

    algorithm: str
    load: str = ""
    provider: str
    """The distribution and version that registered the algorithm, or its file."""
    suite: str
    suite_version: str
    sequence: str
    realisation: Number
    realisation_seed: Number
    seed: Number
    scale: str
    data: str
    protocol: str
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    device: str = "cpu"
    threads: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 1
    software: str = ""
    """The versions that a result depends on: other versions make another job."""
    imported: dict[str, str] = msgspec.field(default_factory=dict)
    """The domains whose images somebody imported or another's plugin makes, each with a hash of
    what determines them: ``data`` names a source, but its images may be anything."""

    @property
    def key(self) -> str:
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def name(self) -> str:
        """The name of the job's folder: readable, and different for different settings."""
        parts = (self.suite, self.sequence, self.algorithm, f"r{self.realisation}", f"s{self.seed}")
        readable = "-".join(re.sub(r"[^A-Za-z0-9_.+]", "_", part) for part in parts)
        return f"{readable}-{self.key[:8]}"

    @property
    def distribution(self) -> str:
        """The distribution that provides the algorithm, whatever its version."""
        return self.provider.rpartition(" ")[0]

    @property
    def is_standalone(self) -> bool:
        """Whether this job's algorithm is the yardstick: our own ``sa``, not another provider's."""
        distribution, _, name = STANDALONE.partition(":")
        return self.algorithm == name and self.provider.startswith(f"{distribution} ")

    @property
    def setting(self) -> tuple[Any, ...]:
        """Values that are equal for jobs that one table may hold, imported images included."""
        return (self.suite, self.suite_version, self.scale, self.data, self.protocol,
                *sorted(self.imported.items()))  # fmt: skip

    @property
    def problems(self) -> tuple[Any, ...]:
        """Values that are equal for two jobs on the same problems with the same seed."""
        return (self.sequence, self.realisation_seed, self.seed, *self.setting)

    @property
    def images(self) -> str:
        """The source of the images, in words; imported images differ from the public dataset's."""
        return "imported images" if self.imported and self.data == "images" else self.data

    def to_json(self) -> dict[str, Any]:
        content = msgspec.structs.asdict(self)
        if not self.imported:  # most jobs' hashes are older than this field
            del content["imported"]
        return content


def standalone_run(job: Job, runs: Sequence[tuple[Job, T]]) -> T | None:
    """Return the standalone run, on the same problems, made as ``job`` was; else the first."""

    def made(each: Job) -> tuple[str, int, str]:
        return each.device, each.threads, each.software

    return max(runs, key=lambda run: made(run[0]) == made(job))[1] if runs else None
