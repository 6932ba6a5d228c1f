"""Puts the page together from its template, its style, its scripts and the data.

Whatever comes from result files is only data: JSON without any ``<``, which the scripts write to
the document as text. A policy in the page's head allows no other script, and no loading of
anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from bell_bench.records import ReadRecord as Record
from bell_bench_leaderboard.page.contents import page_contents
from bell_bench_leaderboard.properties import Rule

SCRIPTS = (
    "vendor/d3.min.js", "vendor/plot.min.js", "scripts/elements.js", "scripts/numbers.js",
    "scripts/table.js", "scripts/results.js", "scripts/heat.js", "scripts/matrices.js",
    "scripts/charts.js", "scripts/properties.js", "scripts/details.js", "scripts/main.js",
)  # fmt: skip
"""The scripts, in the order in which they run."""
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def make_page(
    records: Sequence[Record], rules: Sequence[Rule], *, current: Mapping[str, str] | None = None
) -> str:
    """Return the page. ``current`` gives the installed versions of the suites, so that the page can
    say which results are of an older version."""
    content = page_contents(records, rules, current or {})
    return assembled("template.html", SCRIPTS, content, licences=_file("vendor/LICENSES.txt"))


def assembled(template: str, names: Sequence[str], content: object, **more: str) -> str:
    """Return a template with its style, data and scripts filled in."""
    scripts = [_file(name).strip() for name in names]
    parts = {
        "policy": _policy(scripts),
        "style": _file("style.css"),
        "data": as_data(content),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
        **more,
    }
    return _PLACE.sub(lambda found: parts[found[1]], _file(template))


def as_data(content: object) -> str:
    """Return JSON that cannot end the element it stands in, nor open a comment or another
    element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(scripts: Sequence[str]) -> str:
    """Return a policy that allows only these scripts, and no loading of anything."""
    hashes = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'"


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")
