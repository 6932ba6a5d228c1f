"""A zip of plain files: written the same way every time, read with suspicion, never unpacked.

Everything that could do harm is checked before any file is read: first sizes, then names and kinds.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from bell_bench.records.packed.refused import Refused, shown

MIB = 1024**2
_END = struct.Struct("<4s4H2LH")
"""The end of a zip: signature, disk, directory's disk, entries here, entries, bytes, offset,
length of the comment."""
_ZIP64 = b"PK\x06\x07"
"""The first bytes of a block that, right before the end, would make zipfile look elsewhere."""
_ENTRY_BYTES = 512
"""How many bytes one entry may take in the directory; names are much shorter."""
_NAME = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]*(/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*)*")
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED = 0x1
_FAULTS = (
    zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error, EOFError,
    zlib.error, RuntimeError, OverflowError,
)  # fmt: skip
"""The exceptions that zipfile raises on malformed input."""


@dataclass(frozen=True)
class ArchiveLimits:
    """The allowed sizes of an archive and its files."""

    archive: int
    """Bytes of the archive itself."""
    files: int
    each: int
    """Bytes of one file, unpacked."""
    total: int
    """Bytes of all files, unpacked."""


class Archive:
    """A zip file whose entries have all been checked; they can be read by name."""

    def __init__(self, content: bytes, limits: ArchiveLimits) -> None:
        _check_frame(content, limits)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _FAULTS as error:
            raise Refused(f"it is not a zip file that can be read: {shown(str(error))}") from error
        self._infos: dict[str, zipfile.ZipInfo] = {}
        folded: set[str] = set()
        total = 0
        for info in self._zip.infolist():
            _check_entry(info, limits)
            if info.filename.casefold() in folded:
                raise Refused(f"{info.filename} is in it more than once")
            folded.add(info.filename.casefold())
            self._infos[info.filename] = info
            total += info.file_size
        if len(self._infos) > limits.files or total > limits.total:
            raise Refused(
                f"it holds {len(self._infos):,} files of {total:,} bytes; at most "
                f"{limits.files:,} files of {limits.total:,} bytes are read"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    @property
    def names(self) -> list[str]:
        return sorted(self._infos)

    def read(self, name: str) -> bytes:
        """Return a file's content; raise Refused unless length and checksum are as announced."""
        info = self._infos[name]
        try:
            with self._zip.open(info) as stream:
                content = stream.read(info.file_size + 1)
        except _FAULTS as error:
            raise Refused(f"{name} cannot be read: {shown(str(error))}") from error
        if len(content) != info.file_size:
            raise Refused(f"{name} has {len(content):,} bytes; {info.file_size:,} were announced")
        return content


def _check_frame(content: bytes, limits: ArchiveLimits) -> None:
    """Check the size and the last bytes: the content must be one plain zip and nothing around it,
    so that no other reader finds other files in it, with a directory of limited size."""
    if len(content) > limits.archive:
        raise Refused(f"it has more than {limits.archive:,} bytes")
    if len(content) < _END.size:
        raise Refused("it is not a zip file: it is too short")
    end = len(content) - _END.size
    signature, disk, other, here, entries, length, offset, comment = _END.unpack_from(content, end)
    if signature != b"PK\x05\x06" or comment:
        raise Refused("it is not a zip file, is cut short, or has something after its end")
    if disk or other or here != entries or content[max(0, end - 20) : end].startswith(_ZIP64):
        raise Refused("it is a zip in parts or of the 64-bit kind, which are not read")
    if offset + length != end:
        raise Refused("it has something before its first file or around its directory")
    if entries > limits.files or length > limits.files * _ENTRY_BYTES:
        raise Refused(f"it announces {entries:,} files; at most {limits.files:,} are read")


def _check_entry(info: zipfile.ZipInfo, limits: ArchiveLimits) -> None:
    name = shown(info.orig_filename)
    if info.filename != info.orig_filename or not _NAME.fullmatch(info.filename):
        raise Refused(f"it holds a file named {name!r}: only plain relative names are read")
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        raise Refused(f"{name} is a link or another special file")
    if info.flag_bits & _ENCRYPTED:
        raise Refused(f"{name} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(f"{name} is packed in a way (number {info.compress_type}) that is not read")
    if info.file_size > limits.each:
        raise Refused(f"{name} would unpack to {info.file_size:,} bytes; at most "
                      f"{limits.each:,} are read")  # fmt: skip


def write_archive(files: Mapping[str, bytes]) -> bytes:
    """Return the files as one zip; equal files give equal bytes, everywhere and always."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, files[name], compresslevel=9)
    return buffer.getvalue()
