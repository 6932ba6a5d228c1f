"""Our sequences as Avalanche benchmarks, and its own strategies on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bell_bench_avalanche import multi_head, to_benchmark
from tests.plugins.avalanche.making import tiny

pytestmark = pytest.mark.slow  # importing Avalanche takes seconds


def test_streams_hold_the_problems() -> None:
    sequence = tiny("S_few")
    benchmark = to_benchmark(sequence)
    first = 0
    for index in range(len(sequence)):
        problem = sequence.problem(index)
        splits = {
            "train": problem.train,
            "valid": problem.validation,
            "test": sequence.test(index),
        }
        for name, split in splits.items():
            experience = benchmark.streams[name][index]
            assert experience.task_label == index
            assert experience.classes_in_this_experience <= set(
                range(first, first + problem.classes)
            )
            assert len(experience.dataset) == len(split)
            for number in (0, len(split) - 1):
                x, y, task = experience.dataset[number]
                expected = split.pixels()[split.index[number]]
                assert np.array_equal(x.numpy(), expected)
                assert (y, task) == (split.labels[number] + first, index)
        first += problem.classes


def test_images_are_not_copied() -> None:
    from bell_bench_avalanche.data import Task, items_of, make_dataset

    problem = tiny("S_minus").problem(1)
    dataset = make_dataset(problem.train, Task.next(problem, []))
    origins = items_of(dataset)
    (items,) = {items for items, _ in origins}
    assert [number for _, number in origins] == list(range(len(problem.train)))
    assert items.inputs.images is problem.train.images


def test_batches_of_several_shapes_are_filled_up() -> None:
    from bell_bench_avalanche.data import collate

    single, pair = torch.ones(1, 2, 2), torch.ones(2, 2, 2)
    x, y, task = collate([(single, 0, 0), (pair, 1, 1)])
    assert x.tolist() == [[1] * 4 + [0] * 4, [1] * 8]
    assert (y.tolist(), task.tolist()) == ([0, 1], [0, 1])
    x, *_ = collate([(pair, 0, 0), (pair, 1, 1)])
    assert x.shape == (2, 2, 2, 2)


@pytest.mark.parametrize("name", ["S_few", "S_sp"])
def test_the_model_answers_mixed_batches_as_single_ones(name: str) -> None:
    from bell_bench_avalanche.data import collate
    from bell_bench_avalanche.model import MASKED

    sequence = tiny(name)
    benchmark = to_benchmark(sequence)
    model = multi_head(benchmark, seed=3).eval()
    datasets = [experience.dataset for experience in benchmark.test_stream]
    items = [dataset[number] for number in range(3) for dataset in datasets]
    x, y, tasks = collate(items)
    with torch.no_grad():
        mixed = model(x, tasks)
        for row, (own, _, task) in enumerate(items):
            alone = model(own.unsqueeze(0), torch.tensor([task]))
            torch.testing.assert_close(mixed[row], alone[0])
    for row, task in enumerate(tasks.tolist()):
        units = model.tasks[task].units
        inside = torch.zeros(mixed.shape[1], dtype=torch.bool)
        inside[units] = True
        assert (mixed[row, ~inside] == MASKED).all()
        assert inside[y[row]]


def test_cross_entropy_of_a_binary_head_is_the_suites_loss() -> None:
    from bell_bench.modular.shared_algorithm import measure

    sequence = tiny("S_pl")
    model = multi_head(to_benchmark(sequence), seed=1).eval()
    problem = sequence.problem(2)
    split = problem.validation
    x = torch.from_numpy(split.pixels()[split.index])
    with torch.no_grad():
        output = model(x, 2)
    classes = torch.from_numpy(split.labels) + model.tasks[2].first
    loss, accuracy = measure(model.network, 2, split)
    assert loss == pytest.approx(float(torch.nn.functional.cross_entropy(output, classes)))
    assert accuracy == pytest.approx(float((output.argmax(1) == classes).float().mean()))


def test_an_unmodified_strategy_trains_on_it() -> None:
    from avalanche.training.supervised import Naive

    torch.manual_seed(0)
    sequence = tiny("S_pl")
    benchmark = to_benchmark(sequence)
    model = multi_head(benchmark)
    strategy = Naive(
        model=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.003),
        train_mb_size=32,
        train_epochs=2,
        eval_mb_size=64,
        evaluator=None,
    )
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    strategy.train(benchmark.train_stream[0], eval_streams=[benchmark.valid_stream[0]])
    strategy.eval(benchmark.test_stream)
    after = model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert {name for name in before if "shared" in name} <= moved
    assert "network.heads.0.weight" in moved
    assert not any("heads.1" in name for name in moved)
