"""The streams as patterns, and their realisations: which task stands where. Loads no image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bell_bench.data.domain import SourceDomain
from bell_bench.errors import UsageError
from bell_bench.suites.base import SequenceInfo
from bell_bench.suites.bell.draw import random_state
from bell_bench.suites.ctrl.domains import DOMAINS
from bell_bench.suites.ctrl.rainbow import RAINBOW

CLASSES = 10
LONG_CLASSES = 5
LONG_LENGTH = 100
LONG_DATASETS = ("cifar10", "cifar100", "mnist", "fashion_mnist", "svhn")
LONG_SHARES = ((33, 1 / 2), (66, 1 / 4), (LONG_LENGTH, 0.0))
"""Up to which task, how likely one is large."""
SIZES = {"large": "+", "small": "−", "few": "−−", "long": "+"}
"""The sizes of tasks, with what pictures write for them; ``long`` is s_long's large."""

Placed = Mapping[str, SourceDomain]
"""The domain that takes each dataset's place."""
OWN: Placed = {name: domain.told for name, domain in DOMAINS.items()}
"""Each dataset in its own place."""


@dataclass(frozen=True)
class StreamPlace:
    """One task of a realised stream, before any image is drawn."""

    domain: str
    size: str
    classes: tuple[int, ...]
    """Which class of the dataset each label stands for."""
    colour: str | None = None
    """RainbowMNIST's background."""
    shifted: bool = False
    """Whether the labels are those of an earlier task, each moved on by one."""
    occurrence: int = 0
    """How many earlier tasks of the stream are on the same dataset."""

    @property
    def answers(self) -> int:
        """How many classes its images are told apart by."""
        return len(self.classes)

    @property
    def name(self) -> str:
        if len(self.classes) < CLASSES:
            return f"{self.domain}/{','.join(map(str, self.classes))}"
        name = f"rainbow_{self.domain}/{self.colour}" if self.colour else self.domain
        return f"{name}/shifted" if self.shifted else name


@dataclass(frozen=True)
class Stream:
    """A stream, and how a seed fills it."""

    info: SequenceInfo
    fill: Callable[[int, Placed], list[StreamPlace]]


def _order(seed: int, domain: SourceDomain) -> tuple[int, ...]:
    """Ten classes of a dataset in the order that the seed gives them."""
    order = random_state("ctrl", seed, "classes", domain.name).permutation(domain.classes)
    return tuple(int(label) for label in order[:CLASSES])


def _tasks(*tasks: str) -> Callable[[int, Placed], list[StreamPlace]]:
    """A fixed pattern: per task its dataset and size, and ``shifted`` if its labels are; rainbow1
    and rainbow2 are MNIST on two different colours."""

    def fill(seed: int, placed: Placed) -> list[StreamPlace]:
        return [_place(seed, placed, *task.split()) for task in tasks]

    return fill


def _place(seed: int, placed: Placed, dataset: str, size: str, *words: str) -> StreamPlace:
    colour = None
    if dataset.startswith("rainbow"):
        colours = random_state("ctrl", seed, "colours").permutation(len(RAINBOW))
        colour, dataset = RAINBOW[colours[int(dataset[-1]) - 1]], "mnist"
    domain = placed[dataset]
    classes, shifted = _order(seed, domain), "shifted" in words
    if shifted:
        classes = (*classes[-1:], *classes[:-1])
    return StreamPlace(domain.name, size, classes, colour, shifted)


def _long(seed: int, placed: Placed) -> list[StreamPlace]:
    """Datasets, classes and sizes at random; the further on, the fewer are large."""
    rng = random_state("ctrl", seed, "long")
    places = []
    for position in range(LONG_LENGTH):
        domain = placed[LONG_DATASETS[rng.randint(len(LONG_DATASETS))]]
        share = next(share for until, share in LONG_SHARES if position < until)
        size = "long" if rng.random_sample() < share else "few"
        classes = rng.permutation(domain.classes)[:LONG_CLASSES]
        places.append(StreamPlace(domain.name, size, tuple(int(label) for label in classes)))
    return places


_MIDDLE = ("mnist small", "dtd small", "fashion_mnist small", "svhn small")

_STREAMS = (
    Stream(
        SequenceInfo("s_minus", "perceptual transfer",
                     "the first task returns with little data", length=6),
        _tasks("cifar10 large", *_MIDDLE, "cifar10 small"),
    ),
    Stream(
        SequenceInfo("s_plus", "backward transfer",
                     "the first task returns with much data", length=6),
        _tasks("cifar10 small", *_MIDDLE, "cifar10 large"),
    ),
    Stream(
        SequenceInfo("s_in", "latent transfer",
                     "the first task returns in another colour, with very little data", length=6),
        _tasks("rainbow1 large", "cifar10 small", "dtd small", "fashion_mnist small",
               "svhn small", "rainbow2 few"),
    ),
    Stream(
        SequenceInfo("s_out", "perceptual transfer",
                     "the first task returns with little data and other labels", length=6),
        _tasks("cifar10 large", *_MIDDLE, "cifar10 small shifted"),
    ),
    Stream(
        SequenceInfo("s_pl", "plasticity",
                     "distinct tasks, the last with much data", length=5),
        _tasks(*_MIDDLE, "cifar10 large"),
    ),
    Stream(
        SequenceInfo("s_long", "scalability", "100 random tasks of five classes",
                     length=LONG_LENGTH, short=False),
        _long,
    ),
)  # fmt: skip

STREAMS = {stream.info.name: stream for stream in _STREAMS}


def realise(name: str, seed: int, domains: Placed = OWN) -> list[StreamPlace]:
    """Return the tasks of a stream for a seed, on domains that take the datasets' places in their
    order."""
    if len(domains) < len(OWN):
        raise UsageError(
            f"{len(OWN)} domains are needed, and the data source has {len(domains)}: "
            f"{', '.join(domains) or 'none'}"
        )
    placed = dict(zip(OWN, domains.values(), strict=False))
    seen: Counter[str] = Counter()
    places = []
    for place in STREAMS[name].fill(seed, placed):
        places.append(replace(place, occurrence=seen[place.domain]))
        seen[place.domain] += 1
    return places
