"""Downloads that resume, are checked, and leave nothing broken behind."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from bell_bench.data.catalogue import Collection, OfficialFile
from bell_bench.data.official import check_md5, on_disk
from bell_bench.errors import BellBenchError, UsageError
from bell_bench.folders import data_folder

ATTEMPTS = 3
"""How often one mirror may break off before the next is tried."""
TIMEOUT = 30.0
LARGEST = 2 * 1024**3
"""Bytes of a file: the largest official one has a third of it."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes there are, and the bytes there will be."""


class _BrokeOff(Exception):
    """The transfer ended early; what came is kept, to resume from."""


class _TooLarge(BellBenchError):
    """A server that sends without end must not fill the disk."""


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        check_url(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_url(url: str) -> None:
    """Only https, or plain http to this very machine."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{url} is no address: {error}") from error
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    raise UsageError(f"{url} is not an https address; images are fetched over https only")


def fetch(collection: Collection, progress: Progress, mirror: str | None = None) -> list[Path]:
    """Bring all files of a collection into the data folder; returns those that were fetched.

    ``mirror`` is an address laid out like the data folder, tried before the publisher's own.
    """
    if mirror:
        check_url(mirror)
    fetched = []
    for file in collection.files:
        if _whole(file):
            continue
        urls = [f"{mirror.rstrip('/')}/{file.path}"] if mirror else []
        urls += [base + file.name for base in collection.mirrors]
        fetched.append(_fetch_file(file, urls, progress))
    return fetched


def _whole(file: OfficialFile) -> bool:
    """Whether a file is here, as published; one that is not is fetched anew and replaced."""
    found = on_disk(file)
    if found != [data_folder() / file.path]:
        return bool(found)
    try:
        check_md5(found[0], file)
    except BellBenchError:
        return False
    return True


def _fetch_file(file: OfficialFile, urls: Iterable[str], progress: Progress) -> Path:
    target = data_folder() / file.path
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise BellBenchError(
            f"cannot write {target.parent}: {error}. "
            "Set BELL_BENCH_DATA to a folder you can write to."
        ) from error
    failures = []
    for url in urls:
        check_url(url)
        try:
            _fetch_from(url, part, file, progress)
        except (OSError, ValueError, http.client.HTTPException, _BrokeOff, BellBenchError) as error:
            failures.append(f"  {url}: {error or type(error).__name__}")
        else:
            part.replace(target)
            return target
    kept = part.stat().st_size if part.exists() else 0
    if not kept:
        part.unlink(missing_ok=True)
    resume = f"the {kept} bytes that came are kept, and " if kept else ""
    raise BellBenchError(
        f"{file.path} could not be downloaded:\n" + "\n".join(failures) + "\n"
        f"Run the same command again later; {resume}files that are complete are not fetched twice."
    )


def _fetch_from(url: str, part: Path, file: OfficialFile, progress: Progress) -> None:
    """Fill ``part`` from one mirror. A corrupt file is deleted; if it was resumed, tried afresh."""
    for attempt in range(1, ATTEMPTS + 1):
        resumed = part.exists() and part.stat().st_size > 0
        try:
            _transfer(url, part, file.name, progress)
        except _TooLarge:
            part.unlink()
            raise
        except (_BrokeOff, TimeoutError, ConnectionError, http.client.HTTPException):
            if attempt == ATTEMPTS:
                raise
            continue
        try:
            check_md5(part, file)
            return
        except BellBenchError as error:
            part.unlink()
            if not resumed:
                raise BellBenchError(f"sent a corrupt file, now deleted ({error})") from None
    raise _BrokeOff("sent a corrupt file, now deleted")


def _transfer(url: str, part: Path, name: str, progress: Progress) -> None:
    """One request: the rest of the file if the server can, else the whole of it."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "bell-bench"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    opener = urllib.request.build_opener(_SecureRedirects)
    try:
        response = opener.open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # there is no more to get; the checksum tells whether it is right
        raise
    with response:
        if response.status != http.client.PARTIAL_CONTENT:
            have = 0
        total = have + response.length if response.length is not None else None
        with part.open("r+b" if have else "wb") as output:
            output.seek(have)
            while chunk := response.read(1 << 16):
                output.write(chunk)
                have += len(chunk)
                if have > LARGEST:
                    raise _TooLarge(f"sends more than {LARGEST:,} bytes, as no official file has")
                progress(name, have, total)
    if total is not None and have < total:
        raise _BrokeOff(f"broke off after {have} of {total} bytes")
