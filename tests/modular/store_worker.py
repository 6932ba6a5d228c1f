"""A process that asks a store for entries, and logs each that it had to compute. No torch here."""

from __future__ import annotations

import json
import pathlib
import struct
import sys
import time

from bell_bench.files import hash_json
from bell_bench.modular.evaluations import EvaluationStore


def make_entry(number: int, payload: bytes = b"") -> tuple[str, bytes]:
    """A key and an entry as the evaluator writes it."""
    identity = {"number": number}
    record = json.dumps({"identity": identity, "figures": {"accuracy": 0.5}})
    tensor = {"dtype": "U8", "shape": [len(payload)], "data_offsets": [0, len(payload)]}
    header = json.dumps({"__metadata__": {"record": record}, "0/weight": tensor}).encode()
    return hash_json(identity), struct.pack("<Q", len(header)) + header + payload


def main(folder: str, limit: str, log: str, takes: str, *numbers: str) -> None:
    store = EvaluationStore(folder, int(limit))
    for number in map(int, numbers):
        key, content = make_entry(number, b"x" * 1000)

        def compute(number: int = number, content: bytes = content) -> bytes:
            with pathlib.Path(log).open("a") as stream:
                stream.write(f"{number}\n")
            time.sleep(float(takes))
            return content

        entry, _ = store.get_or_compute(key, compute)
        assert entry.content == content


if __name__ == "__main__":
    main(*sys.argv[1:])
