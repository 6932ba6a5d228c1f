"""Options of algorithms, from the command line and from Python."""

from __future__ import annotations

from typing import Any

import pytest

from bell_bench.errors import UsageError
from bell_bench.options import complete, parse_options, show_value, type_name
from bell_bench.specs import AlgorithmSpec, Option

PICLE = AlgorithmSpec(
    "picle",
    load="m:Picle",
    summary="",
    options={
        "k": Option(int, 40, "How many paths are tried."),
        "gamma": Option(float, 0.5, "A weight."),
        "latent": Option(bool, True, "Whether to search latent paths."),
        "kernel": Option(str, "rbf", "The kernel.", choices=("rbf", "linear")),
        "budget": Option(int, None, "An upper bound.", optional=True),
        "name": Option(str, "x", "Any text."),
        "paths": Option(int, None, "A bound.", optional=True, minimum=1),
        "ridge": Option(float, 0.1, "A share.", above=0),
        "decay": Option(float, 0.9, "A share.", minimum=0, maximum=1),
    },
)
DOTTED = AlgorithmSpec(
    "picle.v2", load="m:Picle", summary="", options={"k": Option(int, 1, "Other.")}
)
PLAIN = AlgorithmSpec("sa", load="m:Sa", summary="")
SPECS = [PICLE, DOTTED, PLAIN]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("picle.k=7", {"k": 7}),
        ("picle.k=-1", {"k": -1}),
        ("picle.gamma=3", {"gamma": 3.0}),
        ("picle.gamma=1e-3", {"gamma": 0.001}),
        ("picle.latent=no", {"latent": False}),
        ("picle.latent=TRUE", {"latent": True}),
        ("picle.latent=0", {"latent": False}),
        ("picle.kernel=linear", {"kernel": "linear"}),
        ("picle.budget=none", {"budget": None}),
        ("picle.budget=9", {"budget": 9}),
        ("picle.name=a=b.c", {"name": "a=b.c"}),
        ("picle.name=", {"name": ""}),
        ("picle.paths=1", {"paths": 1}),
        ("picle.paths=none", {"paths": None}),
        ("picle.ridge=1e-9", {"ridge": 1e-9}),
    ],
)
def test_values_have_the_declared_type(setting: str, value: dict[str, Any]) -> None:
    parsed = parse_options([setting], SPECS)
    assert parsed == {"picle": value}
    ((_, got),) = parsed["picle"].items()
    assert type(got) is type(next(iter(value.values())))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("picle.paths=0", r"picle\.paths takes int of at least 1 or none, not 0"),
        ("picle.ridge=0", r"picle\.ridge takes a finite float above 0, not 0"),
        (
            "picle.decay=7",
            "takes a finite float of at least 0 and of at most 1, not 7",
        ),
        ("picle.k=many", r"picle\.k takes int, not 'many'.*default 40"),
        ("picle.k=1.5", "takes int"),
        ("picle.k=none", "takes int"),
        ("picle.k=", "takes int"),
        ("picle.gamma=nan", "takes a finite float"),
        ("picle.latent=maybe", "takes true or false"),
        ("picle.kernel=rfb", r"takes rbf \| linear"),
        ("picle.budget=x", "takes int or none"),
        ("picle.gama=1", "did you mean gamma.*picle has .*gamma"),
        ("picle.zzz=1", r"unknown option 'zzz'; picle has budget \(int or none\)"),
        ("pickle.k=1", "unknown algorithm 'pickle'; did you mean picle"),
        ("sa.k=1", "sa has no options"),
        ("k=1", "ALGORITHM.OPTION=VALUE"),
        ("picle.k", "ALGORITHM.OPTION=VALUE"),
    ],
)
def test_what_is_refused_and_how(setting: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_options([setting], SPECS)


def test_names_may_have_dots_and_the_last_setting_counts() -> None:
    settings = ["picle.v2.k=3", "picle.k=1", "picle.k=2"]
    assert parse_options(settings, SPECS) == {"picle.v2": {"k": 3}, "picle": {"k": 2}}


def test_complete_fills_in_defaults_and_checks() -> None:
    assert complete(PICLE, {"k": 3, "gamma": 1}) == {
        "k": 3,
        "gamma": 1.0,
        "latent": True,
        "kernel": "rbf",
        "budget": None,
        "name": "x",
        "paths": None,
        "ridge": 0.1,
        "decay": 0.9,
    }
    for wrong in ({"k": "3"}, {"k": True}, {"kernel": "cubic"}, {"k": None}, {"other": 1}):
        with pytest.raises(UsageError):
            complete(PICLE, wrong)
    with pytest.raises(UsageError, match="sa has no options"):
        complete(PLAIN, {"k": 1})


def test_types_and_values_are_shown_as_they_are_written() -> None:
    assert [type_name(option) for option in PICLE.options.values()] == [
        "int",
        "float",
        "bool",
        "rbf | linear",
        "int or none",
        "str",
        "int of at least 1 or none",
        "float above 0",
        "float of at least 0 and of at most 1",
    ]
    assert [show_value(v) for v in (None, True, 3, 0.5, "x")] == ["none", "true", "3", "0.5", "x"]
