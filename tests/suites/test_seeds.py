"""Seeds of realisations, in every suite of ours."""

from __future__ import annotations

import pytest

from bell_bench.cli.verbs import run
from bell_bench.errors import UsageError
from bell_bench.plugins import registry


@pytest.mark.parametrize("name", ["bell", "ctrl", "ctrl-resnet"])
def test_a_negative_seed_is_refused(name):
    suite = registry().suite(name)
    asked = {"scale": "quick", "protocol": "paper", "data": "glyphs"}
    for sequence in suite.sequences:
        with pytest.raises(UsageError, match="seeds of realisations count from 0; -3 was asked"):
            suite.sequence(sequence, seed=-3, **asked)
        assert suite.sequence(sequence, seed=0, **asked).seed == 0


def test_describe_refuses_it(capsys):
    assert run(["describe", "S_few", "--seed", "-3"]) == 2
    assert "-3 was asked for" in capsys.readouterr().err
