"""Where images come from: official files, imported arrays, plugins' sources. Imports no torch."""

from bell_bench.data.domain import Domain, DomainSizes
from bell_bench.data.loading import load_domain
from bell_bench.data.sources import sources
from bell_bench.data.status import missing

__all__ = ["Domain", "DomainSizes", "load_domain", "missing", "sources"]
