"""The evaluation store: every path evaluation is computed only once. Imports no torch.

An entry is one safetensors file: the weights of the new modules, and in its header, as JSON, the
figures, the costs and all that determined them. Its name is ``<key>-<sha256 of the file>``. So
anyone can find damage with sha256sum, and an entry is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import filelock

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.files import (
    LARGEST_WEIGHTS,
    TEMPORARY,
    hash_json,
    read_whole,
    sha256,
    write_whole,
)
from bell_bench.units import format_size, parse_size, parse_time

FOLDER = "evaluations"
"""The store's folder within a folder of runs."""
LIMIT_VARIABLE = "BELL_BENCH_STORE_LIMIT"
DEFAULT_LIMIT = "20 GB"

_NAME = re.compile(r"([0-9a-f]{64})-([0-9a-f]{64})\.safetensors")
_SHARD = re.compile(r"[0-9a-f]{2}")
_STALE = 3600.0
"""After how many seconds an unfinished file counts as left behind by a killed process."""


class StoreWarning(UserWarning):
    """A fault of the store that costs time but changes no result."""


@dataclass(frozen=True)
class StoredEvaluation:
    """The record of an evaluation, and the bytes of its file."""

    record: Mapping[str, Any]
    content: bytes
    stored: bool = True
    """False if the store could not be written; then only ``content`` holds the weights."""


@dataclass(frozen=True)
class EntryFile:
    """An entry's file in the folder."""

    file: pathlib.Path
    key: str
    checksum: str
    bytes: int
    used: float
    """When it was last written or read, in seconds since the epoch."""


class EvaluationStore:
    """Evaluations stored under the hash of all that determines them, and shared by all processes.

    Nothing is created before the first evaluation is stored. ``limit_bytes`` bounds the size: the
    least recently used entries are removed first, the entry just written stays. Printed, it is what
    ``bell-bench cache info`` prints.
    """

    def __init__(self, folder: str | os.PathLike[str], limit_bytes: int | None = None) -> None:
        self.folder = pathlib.Path(folder)
        self.limit_bytes = default_limit() if limit_bytes is None else limit_bytes
        self._unchecked: float = float("inf")
        """Bytes written since the size was last measured; infinite before the first time."""
        self._warned = False

    def get(self, key: str) -> StoredEvaluation | None:
        """Return the verified entry under ``key``, or None; drop a damaged one with a warning."""
        for found in sorted(self._shard(key).glob(f"{key}-*.safetensors")):
            match = _NAME.fullmatch(found.name)
            if not match:
                continue
            try:
                content = read_whole(found, LARGEST_WEIGHTS)
            except OSError:  # removed since it was listed, or unreadable
                continue
            except ValueError:  # larger than any entry of ours
                content = b""
            record = read_record(content, key, match[2])
            if record is None:
                self._drop(found)
                continue
            with contextlib.suppress(OSError):
                os.utime(found)
            return StoredEvaluation(record, content)
        return None

    def get_or_compute(
        self, key: str, compute: Callable[[], bytes]
    ) -> tuple[StoredEvaluation, bool]:
        """Return the entry under ``key``, and whether it was there; if not, ``compute`` it and
        store it.

        If several processes ask at once, one computes and the others wait for it. If ``compute``
        raises, the exception passes through and nothing is stored.
        """
        entry = self.get(key)
        if entry is not None:
            return entry, True
        with self._lock(key):
            entry = self.get(key)
            if entry is not None:
                return entry, True
            content = compute()
            record = read_record(content, key)
            if record is None:
                raise BellBenchError(f"what was computed is not an evaluation under key {key}")
            return StoredEvaluation(record, content, stored=self._put(key, content)), False

    def receive(self, name: str, content: bytes) -> None:
        """Store an entry that another store made, under its file name there.

        A damaged entry is ignored, and so is one whose key is here already: two machines that
        computed the same differ only in the seconds it took.
        """
        match = _NAME.fullmatch(name)
        if match and read_record(content, match[1], match[2]) and self.get(match[1]) is None:
            self._put(match[1], content)

    def entries(self) -> list[EntryFile]:
        """Return all entries in the folder, unverified, least recently used first."""
        found = [entry for file in self._files() if (entry := _entry_file(file))]
        return sorted(found, key=lambda entry: (entry.used, entry.file.name))

    def verify(
        self, watch: Callable[[list[EntryFile]], Iterable[EntryFile]] = iter
    ) -> Iterator[tuple[EntryFile, bool]]:
        """Check every entry's hash and drop the damaged ones; yield each entry and whether it was
        sound.

        ``watch`` iterates over the entries and may show progress.
        """
        for entry in watch(self.entries()):
            try:
                content = read_whole(entry.file, LARGEST_WEIGHTS)
            except (FileNotFoundError, PermissionError):
                continue
            except (OSError, ValueError):
                content = b""
            sound = read_record(content, entry.key, entry.checksum) is not None
            if not sound:
                self._drop(entry.file)
            yield entry, sound

    def info(self) -> dict[str, Any]:
        """Return how many evaluations are stored, their size, its limit, and their last use."""
        entries = self.entries()
        return {
            "folder": str(self.folder),
            "entries": len(entries),
            "bytes": sum(entry.bytes for entry in entries),
            "limit_bytes": self.limit_bytes,
            "oldest": _date(entries[0].used) if entries else None,
            "newest": _date(entries[-1].used) if entries else None,
        }

    def __repr__(self) -> str:
        facts = self.info()
        size, limit = format_size(facts["bytes"]), format_size(self.limit_bytes)
        lines = [
            f"folder     {self.folder}",
            f"entries    {facts['entries']:,}",
            f"size       {size} of {limit} ({LIMIT_VARIABLE} sets the limit)",
        ]
        if facts["entries"]:
            lines.append(f"last used  {facts['oldest']} to {facts['newest']}")
        return "\n".join(lines)

    def unused(self, older_than: str | float | None = None) -> list[EntryFile]:
        """Return the entries last used longer ago than an age: in seconds, or as the command line
        writes it (30d, 12h, 2w). Without an age, return all."""
        if older_than is None:
            return self.entries()
        age = parse_time(older_than) if isinstance(older_than, str) else older_than
        return [entry for entry in self.entries() if entry.used < time.time() - age]

    def clear(self, older_than: str | float | None = None) -> tuple[int, int]:
        """Remove entries, all or the ``unused``; return how many, and how many bytes."""
        chosen = self.unused(older_than)
        removed = [entry for entry in chosen if _remove(entry.file)]
        self._sweep()
        return len(removed), sum(entry.bytes for entry in removed)

    def _put(self, key: str, content: bytes) -> bool:
        file = self._shard(key) / file_name(key, content)
        try:
            write_whole(file, content)
        except OSError as error:
            self._warn_unusable(error)
            return False
        with contextlib.suppress(OSError):  # the folder may vanish meanwhile
            self._evict(file, len(content))
        return True

    def _evict(self, written: pathlib.Path, size: int) -> None:
        """Keep to the limit. Measuring lists all files: it is done once per hundredth written."""
        self._unchecked += size
        if self._unchecked <= self.limit_bytes / 100:
            return
        self._unchecked = 0
        self._sweep()
        entries = self.entries()
        excess = sum(entry.bytes for entry in entries) - self.limit_bytes
        for entry in entries:
            if excess <= 0:
                break
            if entry.file != written and _remove(entry.file):
                excess -= entry.bytes

    def _sweep(self) -> None:
        """Remove unfinished files of killed processes, and locks that are no longer used."""
        for file in self._files():
            if file.name.startswith(TEMPORARY) or file.suffix == ".lock":
                with contextlib.suppress(OSError):
                    if file.stat().st_mtime < time.time() - _STALE and not _held(file):
                        file.unlink()

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        """Hold the lock of a key. Without locks, several processes may do the same work."""
        file = self._shard(key) / f"{key}.lock"
        lock = filelock.FileLock(str(file))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (OSError, NotImplementedError) as error:
            self._warn_unusable(error)
        try:
            yield
        finally:
            if lock.is_locked:
                # Before the release, to remove no new lock; a waiting process finds the entry.
                with contextlib.suppress(OSError):
                    file.unlink()
                lock.release()

    def _shard(self, key: str) -> pathlib.Path:
        return self.folder / key[:2]

    def _files(self) -> Iterator[pathlib.Path]:
        """Yield every file in the shards; other files in the folder are not the store's."""
        try:
            shards = [item for item in self.folder.iterdir() if _SHARD.fullmatch(item.name)]
            for shard in shards:
                if shard.is_dir() and not shard.is_symlink():
                    yield from list(shard.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return

    def _drop(self, file: pathlib.Path) -> None:
        warnings.warn(
            f"evaluation {file} is damaged: dropped, and computed again when asked for",
            StoreWarning,
            stacklevel=3,
        )
        _remove(file)

    def _warn_unusable(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the evaluation store {self.folder} cannot be written ({error}): results stand, "
                "but are computed anew next time",
                StoreWarning,
                stacklevel=4,
            )


def file_name(key: str, content: bytes) -> str:
    """Return an entry's file name, which shows damage."""
    return f"{key}-{sha256(content)}.safetensors"


def read_record(content: bytes, key: str, checksum: str | None = None) -> dict[str, Any] | None:
    """Return the record in an entry's header; None unless it is sound and belongs to ``key``."""
    if checksum is not None and sha256(content) != checksum:
        return None
    try:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        record = json.loads(header["__metadata__"]["record"])
        sound = hash_json(record["identity"]) == key
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return record if sound else None


def default_limit() -> int:
    """Return the store's size limit: the one in the environment, or 20 GB."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip() or DEFAULT_LIMIT
    try:
        return parse_size(text)
    except UsageError:
        hint = "write it as 20 GB, 500 MB or 1.5 GiB"
        raise UsageError(f"{LIMIT_VARIABLE}: {text!r} is not a size; {hint}") from None


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _entry_file(file: pathlib.Path) -> EntryFile | None:
    match = _NAME.fullmatch(file.name)
    if not match or file.is_symlink():
        return None
    try:
        stat = file.stat()
    except OSError:
        return None
    return EntryFile(file, match[1], match[2], stat.st_size, stat.st_mtime)


def _remove(file: pathlib.Path) -> bool:
    """Remove a file; return whether it was there. Another process may have removed it before."""
    try:
        file.unlink()
    except OSError:
        return False
    return True


def _held(file: pathlib.Path) -> bool:
    if file.suffix != ".lock":
        return False
    try:
        with filelock.FileLock(str(file), timeout=0):
            return False
    except filelock.Timeout:
        return True
