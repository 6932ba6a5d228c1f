"""Plain files, written whole or not at all. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pathlib
import stat
import uuid
import zipfile
from collections.abc import Collection, Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

LARGEST_JSON = 256 * 1024**2
LARGEST_ARRAYS = 2 * 1024**3
LARGEST_WEIGHTS = 1024**3
"""Limits, in bytes, of what we read: a JSON file, the unpacked arrays of an .npz, the weights in
one file. A record with all its notes, the images of a domain, and a path's modules are far smaller;
a larger file was made to do harm."""
SEAL = "sha256"
_MARK = f',\n "{SEAL}": "'.encode()
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""A flag that opens a pipe without waiting for its writer."""
TEMPORARY = ".writing-"
"""The prefix of unfinished files, by which those that a killed process left can be recognised."""


def write_whole(file: pathlib.Path, content: bytes) -> None:
    """Write ``content`` so that a reader sees all of it, or the file as it was before.

    An error names the file itself, not the temporary one.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(file)) from error
        raise


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def hash_json(data: Any) -> str:
    """Return a hash of JSON-able data that does not depend on the order of keys."""
    return sha256(json.dumps(data, sort_keys=True, allow_nan=False).encode())


def write_json(file: pathlib.Path, content: Any) -> None:
    """Write ``content`` as JSON, so that a reader sees the whole file or none."""
    write_whole(file, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def open_plain(file: pathlib.Path) -> IO[bytes]:
    """Open a file for reading; raise ValueError for a pipe or a device, which may never end."""

    def no_wait(name: str, flags: int) -> int:
        handle = os.open(name, flags | _NO_WAIT)
        if stat.S_ISFIFO(mode := os.fstat(handle).st_mode) or stat.S_ISCHR(mode):
            os.close(handle)
            raise ValueError("it is not a plain file")
        return handle

    return open(file, "rb", opener=no_wait)


def read_whole(file: pathlib.Path, limit: int) -> bytes:
    """Return a file's content; raise ValueError if it is larger than any that we write."""
    with open_plain(file) as stream:
        small = os.fstat(stream.fileno()).st_size <= limit
        content = stream.read(limit + 1) if small else b""
    if not small or len(content) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return content


def parse_json(content: bytes) -> Any:
    """Parse JSON; raise ValueError if it is malformed, too deep, or has NaN or infinity."""

    def refuse(number: str) -> Any:
        raise ValueError(f"{number} is not a number that can be compared")

    try:
        return json.loads(content, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(file: pathlib.Path) -> Any:
    """Return what a JSON file holds; ValueError if it is damaged or too large."""
    return parse_json(read_whole(file, LARGEST_JSON))


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with its own hash, which shows damage."""
    return {**content, SEAL: hash_json(content)}


def unseal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return sealed content without its hash; raise ValueError if it has changed since. Content
    that was never sealed, as older versions wrote it, passes."""
    plain = {name: value for name, value in content.items() if name != SEAL}
    if SEAL in content and content[SEAL] != hash_json(plain):
        raise ValueError("it is not as it was written: its hash does not match")
    return plain


def write_sealed(file: pathlib.Path, content: Mapping[str, Any]) -> None:
    """Write JSON that ends with the hash of all that precedes it: checking it needs no parsing."""
    body = json.dumps(content, indent=1, allow_nan=False)[:-2].encode()
    write_whole(file, body + _seal_of(body))


def check_seal(text: bytes) -> None:
    """Raise ValueError if a sealed text has changed since. A text that was never sealed passes."""
    body, mark, rest = text.rpartition(_MARK)
    if text and mark + rest != _seal_of(body):
        unseal(parse_json(text))


def _seal_of(body: bytes) -> bytes:
    return _MARK + f'{sha256(body)}"\n}}\n'.encode()


def write_arrays(file: pathlib.Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays of numbers as .npz, which can be read without pickle."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez_compressed(buffer, **dict(arrays))  # type: ignore[arg-type]
    write_whole(file, buffer.getvalue())


def read_arrays(
    file: pathlib.Path, names: Collection[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz, all or the named ones. Raise OSError if there is no such file,
    ValueError if it is damaged, would run code, or would unpack to more than fits in memory."""
    import numpy as np

    try:
        with open_plain(file) as stream:
            with zipfile.ZipFile(stream) as archive:
                size = sum(member.file_size for member in archive.infolist())
                others = [name for name in archive.namelist() if not name.endswith(".npy")]
            if others:
                raise ValueError(f"it holds {others[0]}, which is not an array")
            if size > LARGEST_ARRAYS:
                raise ValueError(f"it unpacks to {size:,} bytes, over {LARGEST_ARRAYS:,}")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as arrays:
                wanted = [name for name in arrays.files if names is None or name in names]
                return {name: np.asarray(arrays[name]) for name in wanted}
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def write_tensors(file: pathlib.Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name as safetensors; tensors that share memory are written one by one."""
    import safetensors.torch
    import torch

    plain = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    write_whole(file, safetensors.torch.save(plain))


def read_tensors(file: pathlib.Path) -> dict[str, Tensor]:
    """Return what ``write_tensors`` wrote, on the CPU."""
    import safetensors.torch

    found: dict[str, Tensor] = safetensors.torch.load(file.read_bytes())
    return found
