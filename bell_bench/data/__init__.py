"""Where images come from: embedded glyphs, official files, imported arrays. Imports no torch."""

from bell_bench.data.domain import BELL_DOMAINS, SOURCES, Domain, DomainSizes
from bell_bench.data.loading import load_domain
from bell_bench.data.status import missing

__all__ = ["BELL_DOMAINS", "SOURCES", "Domain", "DomainSizes", "load_domain", "missing"]
