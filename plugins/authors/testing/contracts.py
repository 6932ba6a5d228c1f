"""The contracts between bell-bench and an algorithm, each a function that raises if it is broken.

A docstring is what people read, also by ``bell-bench check --explain`` and in docs/contracts.md;
its first paragraph is the contract itself.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import pathlib
import pickletools
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from bell_bench.files import read_arrays
from bell_bench.options import allowed
from bell_bench.specs import Option
from bell_bench_authors.testing import side_effects
from bell_bench_authors.testing.resuming import Cut, go_on_elsewhere
from bell_bench_authors.testing.tiny_job import (
    Broken,
    Fault,
    NotApplicable,
    Subject,
    Tell,
    Trial,
    silent,
)
from bell_bench_authors.testing.tiny_problems import TinyTask, World

SLACK = 4096
"""How many bytes need not be accounted for."""
Contract = Callable[["Session"], str | None]
"""Raises if the contract is broken; may return what could not be tried."""


@dataclass
class Ran:
    """A whole run: the predictions after each problem, and the trial that made them."""

    trial: Trial
    after: list[list[Tensor]] = field(default_factory=list)
    """Row t: scores for problems 0..t after learning t."""


@dataclass(frozen=True)
class Session:
    """A check of one algorithm; its trials share a store of path evaluations, as jobs do."""

    subject: Subject
    world: World
    runs: pathlib.Path
    declared: dict[str, Option] = field(default_factory=dict)
    tell: Tell = silent

    def trial(self, **changes: Any) -> Trial:
        return Trial(self.subject, self.world, self.runs, tell=self.tell, **changes)

    def tasks(self, sequence: str) -> Sequence[TinyTask]:
        tasks = self.world.sequences[sequence]
        if not tasks:
            raise NotApplicable(f"suite {self.world.suite} has no such sequence")
        return tasks

    def run(self, sequence: str, **changes: Any) -> Ran:
        ran = Ran(self.trial(**changes))
        for task in self.tasks(sequence):
            ran.trial.learn(task)
            ran.after.append(ran.trial.predict_all())
        return ran

    @property
    def plain(self) -> Ran:
        """The plain sequence with all defaults, run once for all contracts that need it."""
        if isinstance(self._plain, Ran):
            return self._plain
        raise self._plain

    @cached_property
    def _plain(self) -> Ran | Fault | NotApplicable:
        try:
            return self.run("plain")
        except (Fault, NotApplicable) as fault:
            return fault


def learns(session: Session) -> None:
    """It learns the problems of a sequence one by one, and after each predicts for every problem
    learnt so far.

    ``learn(problem)`` is called once per problem, in order; ``predict(index, inputs)`` at any time
    after, for any earlier index. An algorithm that refuses the plainest problems must name the
    suites it supports in its ``AlgorithmSpec``.
    """
    try:
        trial = session.trial()
        for task in session.tasks("plain"):
            trial.learn(task)
            for known in trial.tasks:
                trial.ask(known.problem.index, known.test.inputs)
    except NotApplicable as refusal:
        raise Broken(
            f"{refusal}; name the suites it supports in AlgorithmSpec(suites=…)"
        ) from refusal


def scores(session: Session) -> None:
    """Scores are a finite, real tensor of shape (inputs, classes), for any number of
    inputs.

    The highest score is the answer; binary problems have two classes like any other.
    """
    trial = session.plain.trial
    for task in trial.tasks:
        test = task.test.inputs
        for count in (7, 1):
            trial.predict(task.problem.index, replace(test, index=test.index[:count]))


def deterministic(session: Session) -> None:
    """The same job gives the same scores, whatever the state of the process's own random
    generators.

    Draw from ``context.generator(...)``, which depends on the job's seed and the names you give it.
    """
    before = session.plain.after
    side_effects.scramble(987)
    again = session.run("plain").after
    for step, (first, second) in enumerate(zip(before, again, strict=True)):
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            if not torch.equal(one, other):
                raise Broken(
                    f"after problem {step + 1}, a second run of the same job scored problem "
                    f"{index + 1} differently, by up to {float((one - other).abs().max()):.3g}; "
                    "draw random numbers from context.generator(...)"
                )


def resumes(session: Session) -> None:
    """A job that goes on from ``save`` and ``load`` in the middle of a sequence ends as one that
    was never cut off.

    ``save(folder)`` is called after every problem; ``load(folder)`` on a new object in another
    process, with the context of the same job: the library's files are where they were, what was
    kept in a module or a class is not.
    """
    tasks, whole = session.tasks("plain"), session.plain.after
    middle = len(tasks) - 1
    first = session.trial()
    for task in tasks[:middle]:
        first.learn(task)
    folder, stored = str(first.save()), first.job_context.stored
    loaded, ended = go_on_elsewhere(
        session, Cut(first.name, folder, middle, stored, session.subject.address)
    )
    _same(loaded, whole[middle - 1], "right after load(folder)")
    _same(ended, whole[-1], "after going on from load(folder)")


def _same(found: Sequence[Tensor], expected: Sequence[Tensor], when: str) -> None:
    for index, (one, other) in enumerate(zip(found, expected, strict=True)):
        if not torch.allclose(one, other, atol=1e-6, rtol=1e-5):
            raise Fault(
                f"{when}, problem {index + 1} is scored differently than without a break",
                "deterministic",
            )


def plain_files(session: Session) -> None:
    """What ``save`` writes cannot run code when it is loaded: JSON, text, .npz without objects,
    safetensors; no pickle, so no ``torch.save``.

    Use ``bell_bench.write_tensors`` and ``write_json``, which write whole files or none.
    """
    trial = session.trial()
    for task in session.tasks("plain")[:2]:
        trial.learn(task)
    for file in sorted(path for path in trial.save().rglob("*") if path.is_file()):
        if fault := _code_in(file):
            raise Broken(f"save(folder) wrote {file.name}, {fault}")


def _code_in(file: pathlib.Path) -> str:
    """Return why a file might run code when it is loaded; empty if its format cannot."""
    content = file.read_bytes()
    if content.startswith(b"PK") and zipfile.is_zipfile(file):
        return _code_in_archive(file)
    if content.startswith(b"\x93NUMPY"):
        return _needs_pickle(lambda: np.load(file, allow_pickle=False))
    with contextlib.suppress(SafetensorError):
        safetensors.torch.load(content)
        return ""
    if _is_pickle(content):
        return "which is a pickle"
    try:
        text = content.decode()
        if file.suffix == ".json":
            json.loads(text)
    except UnicodeDecodeError:
        return "which is neither text, JSON, .npy, .npz nor safetensors"
    except ValueError as error:
        return f"which is not JSON: {error}"
    return ""


def _code_in_archive(file: pathlib.Path) -> str:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    if any(name.endswith(".pkl") for name in names):
        return "which holds a pickle (torch.save writes these)"
    if others := [name for name in names if not name.endswith(".npy")]:
        return f"an archive that holds {others[0]}, which is not an array"
    return _needs_pickle(lambda: read_arrays(file))


def _needs_pickle(read: Callable[[], object]) -> str:
    try:
        read()
    except ValueError as error:
        return f"which numpy reads only with pickle: {error}"
    return ""


def _is_pickle(content: bytes) -> bool:
    """Return whether the content is a pickle, of protocol 0 (text) as well, without running it."""
    try:
        pickletools.dis(content, out=io.StringIO())
    except Exception:  # the type depends on the first wrong operation
        return False
    return True


def stable(session: Session) -> None:
    """Where a class says ``stable = True``, learning a problem changes no score of an earlier
    one.

    Modular algorithms say so, since library modules are frozen. The claim is for readers; without
    it nothing is checked.
    """
    after = session.plain.after
    changed = [
        (step, index)
        for step, row in enumerate(after)
        for index, now in enumerate(row[:-1])
        if not torch.allclose(now, after[index][index], atol=1e-6, rtol=1e-5)
    ]
    if not session.subject.kind.stable:
        hint = "" if changed else "; here nothing changed, so it could"
        raise NotApplicable(f"it does not claim to be stable{hint}")
    if changed:
        step, index = changed[0]
        raise Broken(
            f"it claims to be stable, yet learning problem {step + 1} changed the scores of "
            f"problem {index + 1}"
        )


def device(session: Session) -> None:
    """It computes on ``context.device`` and does not choose a device of its own.

    Where the machine has an accelerator, the check also runs the algorithm on it.
    """
    with side_effects.devices_asked_for(session.subject.package) as asked:
        session.run("plain")
    if asked:
        raise Broken(f"it asked {asked[0]} instead of using context.device")
    for other in _accelerators():
        session.run("plain", device=other)


def _accelerators() -> list[str]:
    found = ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()
    return found[:1]


def seed(session: Session) -> None:
    """Its randomness follows the job's seed: if it draws from the process's own generators, or
    always seeds its own alike, another seed gives other scores.

    A constant seed in the code makes all seeds one.
    """
    first = session.plain.after[-1]
    side_effects.scramble(1)
    before = side_effects.global_randomness()
    with side_effects.seeds_given(session.subject.package) as given:
        second = session.run("plain", seed=1).after[-1]
    drawn = before != side_effects.global_randomness()
    if not all(map(torch.equal, first, second)):
        return
    advice = "derive its randomness from context.generator(...) or context.seed"
    if drawn:
        raise Broken(
            "it set or used the process's own random generators, yet seeds 0 and 1 give the same "
            f"scores: {advice}"
        )
    if given:
        with side_effects.seeds_given(session.subject.package) as before_that:
            session.run("plain")
        if given == before_that:
            raise Broken(
                f"it seeds generators of its own with {given[0]} whether the job's seed is 0 or 1, "
                f"which give the same scores: {advice}"
            )


def options(session: Session) -> str:
    """It runs with every choice, switch and bound that its options declare, and with another number
    than the default.

    Values outside are refused before an algorithm sees them. An option that has no other value to
    try, such as text without choices, is named as not tried.
    """
    if not session.declared:
        raise NotApplicable("it declares no options")
    others = {name: _values(option) for name, option in session.declared.items()}
    untried = ", ".join(name for name, values in others.items() if not values)
    if not any(others.values()):
        raise NotApplicable(f"nothing could be tried: no other value is known for {untried}")
    for name, values in others.items():
        for value in values:
            try:
                trial = session.trial(options={name: value})
                for task in session.tasks("plain")[:2]:
                    trial.learn(task)
                trial.predict_all()
            except Fault as fault:
                raise Fault(f"with {name}={value!r}, {fault}", fault.contract) from fault
    return f"not tried, as no other value is known: {untried}" if untried else ""


def _values(option: Option) -> list[Any]:
    """Return values other than the default that an option must take."""
    found = list(option.choices)
    if option.type is bool:
        found += [True, False]
    if option.optional:
        found.append(None)
    if option.type in (int, float) and not option.choices:
        found += _number(option)
    return [value for value in dict.fromkeys(found) if value != option.default]


def _number(option: Option) -> list[Any]:
    """Return a number other than the default: the lowest that is declared, or else one nearby."""
    default, lowest, above = option.default, option.minimum, option.above
    found = [] if lowest is None else [lowest]
    if above is not None:
        between = option.type is float and default is not None
        found.append((above + default) / 2 if between else math.floor(above) + 1)
    if default is not None:
        found += [default + 1] if option.type is int else [default / 2, default + 1]
    others = (
        value for value in map(option.type, found) if value != default and allowed(option, value)
    )
    return list(itertools.islice(others, 1))


def few_points(session: Session) -> None:
    """It survives problems with ten training and ten validation points.

    A class may have no example among them; S_few ends with such a problem.
    """
    session.run("few")


def mixed_inputs(session: Session) -> None:
    """It survives a sequence whose inputs change: pairs of images, pairs of vectors, single
    images.

    S_sp and S_few have such sequences. Where nothing fits, starting afresh is an answer.
    """
    session.run("mixed")


def multi_class(session: Session) -> None:
    """It survives problems of many classes after binary ones, and binary ones after those."""
    session.run("classes")


def nothing_else(session: Session) -> None:
    """It asks for nothing but what it was handed: no test labels, no later problems, no files of
    other jobs, no network, nothing of the context that is not promised.

    What is promised is ``bell_bench.Context``. The check watches files, connections and lookups of
    suites; it is a help against mistakes, not a wall against intent.
    """
    name, fault, refused = "watched-job", None, []
    own = (session.runs / name, session.runs / "evaluations")
    with (
        side_effects.files_and_network(session.runs, own) as opened,
        side_effects.suites_asked_for() as suites,
    ):
        try:
            trial = session.trial(name=name)
            refused = trial.refused
            for task in session.tasks("plain")[:2]:
                trial.learn(task)
                trial.predict_all()
        except Fault as error:
            fault = error
    if opened:
        raise Broken(f"it asked for what is not its own: {opened[0]}")
    if suites:
        raise Broken(f"it looked up the suite {suites[0]}, from which any problem can be made")
    if fault:
        raise fault
    if refused:
        raise Broken(refused[0])


def leaves_inputs(session: Session) -> None:
    """It does not change the problems and inputs that it is handed.

    Arrays may be shared with other jobs' caches: copy before you write.
    """
    if changed := session.plain.trial.changed:
        raise Broken(changed[0])


def accounts_storage(session: Session) -> None:
    """What it keeps between problems is in the library or told to ``context.account``: arrays,
    tensors and lists of numbers within reach of the algorithm, and the files that ``save`` writes.

    Call ``context.account(what, bytes, parameters)`` after each problem; it replaces what was said
    before.
    """
    trial = session.plain.trial
    told = trial.job_context.resources()["stored_bytes"]
    kept = side_effects.kept_bytes(trial.algorithm, without=trial.handed)
    if kept > 1.1 * told + SLACK:
        raise Broken(
            f"it keeps {kept:,} bytes of arrays, tensors and numbers, but reported {told:,}: call "
            "context.account(what, bytes, parameters) after learning"
        )
    files = [path for path in trial.save("accounted").rglob("*") if path.is_file()]
    saved = sum(path.stat().st_size for path in files)
    if saved > 1.1 * told + 4 * SLACK:
        raise Broken(f"save(folder) wrote {saved:,} bytes, but it reported {told:,}")


def charges_work(session: Session) -> None:
    """Training outside ``context.evaluate`` is charged with ``context.charge``.

    ``context.count(step)`` runs a step and gives its FLOPs. The check sees the steps of torch's
    optimisers; charge other work as well.
    """
    trial = session.trial()
    for task in session.tasks("plain")[:2]:
        before = trial.job_context.charges
        with side_effects.optimiser_steps() as steps:
            trial.learn(task)
        charged = trial.job_context.charges - before
        if steps[0] and not (charged.updates or charged.train_flops or charged.inference_flops):
            raise Broken(
                f"learning {task.problem.name} made {steps[0]} steps of an optimiser and charged "
                "nothing: call context.charge(updates=…, train_flops=…)"
            )


ALL: tuple[Contract, ...] = (
    learns, scores, deterministic, seed, resumes, plain_files, stable, device, options,
    few_points, mixed_inputs, multi_class, nothing_else, leaves_inputs, accounts_storage,
    charges_work,
)  # fmt: skip
"""All contracts, in the order in which they are checked, the simplest first."""
