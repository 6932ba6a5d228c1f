"""A process's peak memory: measured in parts, charged where a stored result stands for work."""

import mmap
import sys

import pytest

from bell_bench.memory import PeakMemory, resident

MB = 1024**2
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux clears the peak")


def touch(size):
    """Hold so many bytes for a moment: pages of their own, not what the allocator has at hand."""
    with mmap.mmap(-1, size) as pages:
        for start in range(0, size, mmap.PAGESIZE):
            pages[start] = 1


@linux
def test_restarting_forgets_what_was_held_before():
    peak = PeakMemory()
    touch(200 * MB)
    assert peak.bytes > resident() + 150 * MB
    peak.restart()
    assert peak.bytes < resident() + 50 * MB


@linux
def test_a_part_is_measured_on_its_own_and_still_counts_for_the_whole():
    peak = PeakMemory()
    peak.restart()
    with peak.extra() as small:
        touch(20 * MB)
    with peak.extra() as large:
        touch(200 * MB)
    with peak.extra() as nothing:
        pass
    assert 15 * MB < small[0] < 60 * MB
    assert 190 * MB < large[0] < 260 * MB
    assert nothing[0] < 10 * MB
    assert peak.bytes >= resident() + 150 * MB


def test_what_is_charged_counts_as_held():
    peak = PeakMemory()
    peak.restart()
    peak.charge(5000 * MB)
    assert peak.bytes >= 5000 * MB
