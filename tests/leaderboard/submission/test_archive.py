"""Archives made to hurt: each is refused before anything is read from it, or while it is."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bell_bench.records.packed.archive import MIB, Archive, ArchiveLimits, write_archive
from bell_bench.records.packed.refused import Refused
from tests.leaderboard.submission.conftest import zipped

SMALL = ArchiveLimits(archive=MIB, files=50, each=MIB, total=2 * MIB)


def read_all(content: bytes, limits: ArchiveLimits = SMALL) -> dict[str, bytes]:
    archive = Archive(content, limits)
    return {name: archive.read(name) for name in archive.names}


def special(name: str, mode: int) -> bytes:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name",
    ["../up", "a/../../up", "/etc/passwd", "a//b", "a/", ".", "..", "a/..", "C:\\x", "a\\b", "~/a",
     "a b", "a\nb", "é", "-rf/../x", ".hidden", "a/.git", "a:b", "nul\u202etxt"],
)  # fmt: skip
def test_names_that_lead_elsewhere_or_deceive(name):
    with pytest.raises(Refused, match=r"only plain relative names|special file"):
        read_all(zipped({name: b"x"}))


def test_a_name_that_hides_its_end():
    content = zipped({"abc": b"x"}).replace(b"abc", b"a\0c")
    with pytest.raises(Refused, match="only plain relative names"):
        read_all(content)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices(kind):
    with pytest.raises(Refused, match="special file"):
        read_all(special("a", kind | 0o777))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("other", ["manifest.json", "Manifest.JSON"])
def test_names_that_are_there_twice(other):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", "true")
        archive.writestr(other, "false")
    with pytest.raises(Refused, match="more than once"):
        read_all(buffer.getvalue())


def test_a_bomb_is_refused_by_its_announcement():
    bomb = zipped({"zeros": bytes(64 * MIB)})
    assert len(bomb) < MIB
    with pytest.raises(Refused, match="would unpack to 67,108,864 bytes"):
        read_all(bomb)
    many = zipped({f"zeros{number}": bytes(MIB) for number in range(10)})
    with pytest.raises(Refused, match="10 files of 10,485,760 bytes"):
        read_all(many)


def test_a_bomb_that_announces_little_is_not_read_to_its_end():
    bomb = bytearray(zipped({"zeros": bytes(64 * MIB)}))
    start = bomb.rindex(b"PK\x01\x02")
    struct.pack_into("<L", bomb, start + 24, 1000)  # unpacked size, in the directory
    struct.pack_into("<L", bomb, 22, 1000)  # and before the file
    with pytest.raises(Refused, match=r"zeros cannot be read|announced"):
        read_all(bytes(bomb))


def test_too_many_files_and_too_large_an_archive():
    with pytest.raises(Refused, match="announces 51 files"):
        read_all(zipped({str(number): b"" for number in range(51)}))
    with pytest.raises(Refused, match="more than 1,048,576 bytes"):
        read_all(bytes(MIB + 1))


def test_more_entries_than_announced():
    content = bytearray(zipped({str(number): b"" for number in range(300)}))
    end = len(content) - 22
    struct.pack_into("<HH", content, end + 8, 1, 1)
    with pytest.raises(Refused):
        read_all(bytes(content), ArchiveLimits(MIB, 4, MIB, MIB))


def test_something_before_after_or_between():
    content = zipped({"a": b"x"})
    for around in (b"#!/bin/sh\n" + content, content + b"more", content + content):
        with pytest.raises(Refused):
            read_all(around)
    commented = bytearray(content + b"hello")
    struct.pack_into("<H", commented, len(content) - 2, 5)
    with pytest.raises(Refused, match="after its end"):
        read_all(bytes(commented))


def test_a_second_directory_of_the_64_bit_kind():
    """zipfile would follow it, and find other files than the end of the archive tells."""
    content = zipped({"a": b"x"})
    end = content[-22:]
    length, offset = struct.unpack_from("<2L", end, 12)
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, length, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(content) - 22, 1)
    grown = bytearray(content[:-22] + record + locator + end)
    struct.pack_into("<L", grown, len(grown) - 10, length + len(record) + len(locator))
    with pytest.raises(Refused, match="64-bit"):
        read_all(bytes(grown))


def test_encrypted_or_oddly_packed_files():
    content = bytearray(zipped({"a": b"x"}))
    start = content.rindex(b"PK\x01\x02")
    content[start + 8] |= 1
    with pytest.raises(Refused, match="encrypted"):
        read_all(bytes(content))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", "x")
    with pytest.raises(Refused, match="packed in a way"):
        read_all(buffer.getvalue())


def test_a_damaged_file_is_found_by_its_checksum():
    files = {"a": bytes(range(256)) * 4}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a", files["a"])
    content = bytearray(buffer.getvalue())
    content[100] ^= 1
    with pytest.raises(Refused, match="a cannot be read"):
        read_all(bytes(content))


NAMES = st.from_regex(r"[a-z0-9_]{1,6}(/[a-z0-9_]{1,6}){0,2}", fullmatch=True)


@settings(max_examples=30)
@given(st.dictionaries(NAMES, st.binary(max_size=200), max_size=8), st.randoms())
def test_what_is_written_is_read_and_bytes_depend_on_content_alone(files, random):
    content = write_archive(files)
    assert read_all(content) == files
    shuffled = list(files.items())
    random.shuffle(shuffled)
    assert write_archive(dict(shuffled)) == content


@given(st.integers(0, 400), st.binary(min_size=1, max_size=30))
def test_whatever_is_changed_is_refused_or_read_in_bounds(start, replaced):
    """Nothing but ``Refused`` is ever raised."""
    content = bytearray(zipped({"a/b": b"some text" * 20, "c": b"more"}))
    content[start : start + len(replaced)] = replaced
    try:
        found = read_all(bytes(content))
    except Refused:
        return
    assert sum(map(len, found.values())) <= SMALL.total


@given(st.integers(0, 250))
def test_truncated_anywhere(length):
    content = zipped({"a": b"text", "b": b"text"})
    with pytest.raises(Refused):
        read_all(content[: min(length, len(content) - 1)])
