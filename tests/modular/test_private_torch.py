"""Names that torch does not promise: here today, and what happens on the day they are not."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from made_problems import coloured, pairs

from bell_bench.modular import flops, optimiser, private_torch
from bell_bench.modular.optimiser import Optimiser
from bell_bench.modular.settings import TrainingSettings
from bell_bench.modular.training import train

CPU = torch.device("cpu")


@pytest.mark.parametrize("name", private_torch.BORROWED)
def test_torch_still_has_it(name: str) -> None:
    """If this fails: bell-bench works, but slower. See what torch has in its place."""
    assert private_torch.borrow(name) is not None


@pytest.mark.parametrize("name", private_torch.BORROWED)
@pytest.mark.parametrize("instead", [None, lambda *_, **__: torch.zeros(3), lambda: None])
def test_what_has_gone_or_does_something_else_is_not_used(monkeypatch, name, instead) -> None:
    owner, _, last = f"torch.{name}".rpartition(".")
    if instead is None:
        monkeypatch.setattr(private_torch.torch, name.partition(".")[0], None)
    else:
        monkeypatch.setattr(eval(owner), last, instead, raising=False)
    assert private_torch.borrow(name) is None


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_torchs_optimisers_do_the_same_step(monkeypatch, name) -> None:
    settings = TrainingSettings(optimiser=name, weight_decay=0.1, learning_rate=0.01)
    start = torch.randn(50, generator=torch.Generator().manual_seed(1))

    def after_steps() -> torch.Tensor:
        made = Optimiser(start.clone(), settings)
        for number in range(3):
            made.gradient.copy_(start.roll(number))
            made.step()
        assert made.steps == 3
        return made.parameters

    ours = after_steps()
    monkeypatch.setitem(optimiser.FUSED, name, private_torch.optim(name))
    assert torch.equal(after_steps(), ours)


def test_a_relus_gradient_is_the_same() -> None:
    output = torch.tensor([0.0, 1.0, 2.0, float("nan"), -0.0])
    gradient = torch.tensor([1.0, -1.0, float("nan"), 3.0, float("inf")])
    ours = private_torch.relu_gradient(gradient.clone(), output)
    with pytest.MonkeyPatch.context() as without:
        without.setattr(private_torch, "_relu_backward", None)
        theirs = private_torch.relu_gradient(gradient.clone(), output)
    assert torch.equal(ours.nan_to_num(7), theirs.nan_to_num(7))


def test_ctrls_modules_are_trained_by_autograd(monkeypatch) -> None:
    settings = TrainingSettings(max_updates=3)

    def trained():
        return train(coloured(), {}, settings, seed=1, init_seed=2, device=CPU)

    ours = trained()
    monkeypatch.setattr(private_torch, "NORMALISED", False)
    theirs = trained()
    assert theirs.train_flops == pytest.approx(ours.train_flops, rel=0.1)
    assert ours.weights.keys() == theirs.weights.keys()
    for layer, weights in ours.weights.items():
        for name, tensor in weights.items():
            assert torch.allclose(tensor, theirs.weights[layer][name], atol=1e-3), (layer, name)


def test_torchs_own_counter_counts_the_same(monkeypatch) -> None:
    def charged() -> float:
        settings = TrainingSettings(max_updates=3)
        return train(pairs(), {}, settings, seed=1, init_seed=2, device=CPU).train_flops

    ours = charged()
    assert flops.OWN_COUNTER, "torch has moved what our counter is built on"
    monkeypatch.setattr(flops, "OWN_COUNTER", False)
    assert charged() == ours > 0
    assert flops.count(lambda: torch.ones(2, 2) @ torch.ones(2, 2)).coverage == 0


@pytest.mark.parametrize("module", ["flops", "optimiser", "training"])
def test_training_and_counting_do_not_import_torchs_compiler(module: str) -> None:
    """It would take each process seconds; torch's dispatch modes import it unless told not to."""
    code = (
        f"import sys, torch, bell_bench.modular.{module}\n"
        "from bell_bench.modular.flops import count\n"
        "count(lambda: torch.ones(2, 2) @ torch.ones(2, 2))\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
