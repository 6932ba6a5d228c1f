"""Small pools of made-up images in the place of the datasets', so that nothing is drawn or read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bell_bench.suites import images
from bell_bench.suites.ctrl import suite
from bell_bench.suites.ctrl.domains import DOMAINS
from bell_bench.suites.ctrl.scales import SCALES, CtrlScale

PER_CLASS = {"train": 30, "validation": 12, "test": 9}


def pool(name: str, part: str) -> dict[str, Any]:
    """Noise around a colour for each class; no two images alike."""
    classes = DOMAINS[name].cut.classes
    random = np.random.RandomState([len(name), list(PER_CLASS).index(part)])
    labels = np.tile(np.arange(classes), PER_CLASS[part])
    colours = np.random.RandomState(len(name)).randint(0, 200, (classes, 3))
    noise = random.randint(0, 56, (len(labels), 32, 32, 3))
    images = (colours[labels][:, None, None] + noise).astype(np.uint8)
    return {f"{part}_images": images, f"{part}_labels": labels.astype(np.int64)}


class Loads(list[str]):
    """Stands in for ``load_domain``, and remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[str, SimpleNamespace] = {}

    def __call__(self, name: str, *how: object) -> SimpleNamespace:
        self.append(name)
        if name not in self._made:
            arrays = {key: each for part in PER_CLASS for key, each in pool(name, part).items()}
            self._made[name] = SimpleNamespace(name=name, **arrays)
        return self._made[name]


def tiny(**changes: Any) -> CtrlScale:
    """So small that every algorithm's run takes seconds."""
    sizes = {"large": (4, 3), "small": (3, 2), "few": (2, 2), "long": (3, 2), "test": 3, "width": 4}
    training = {"max_updates": 4, "validate_every": 2}
    return replace(SCALES["quick"], **{**sizes, **training, **changes})


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Loads:
    found = Loads()
    monkeypatch.setattr(images, "load_domain", found)
    monkeypatch.setattr(images, "missing", lambda names, data, declared: {})
    return found


def sequence(
    name: str,
    seed: int = 0,
    scale: CtrlScale | str = "quick",
    resnet: bool = False,
    data: str = "glyphs",
) -> suite.CtrlSequence:
    """A stream at a scale by name, or at one of the tests' own."""
    of = suite.CTRL_RESNET if resnet else suite.CTRL
    named = scale if isinstance(scale, str) else "quick"
    found = of.sequence(name, seed=seed, scale=named, protocol="paper", data=data)
    return found if isinstance(scale, str) else replace(found, scale=scale)
