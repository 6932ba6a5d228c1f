from __future__ import annotations

import dataclasses
import json

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import LOWER, PAIRS, SINGLE, UPPER, make_evaluator, make_problem, solve

from bell_bench.errors import BellBenchError, UsageError
from bell_bench.files import hash_json
from bell_bench.modular.architecture import ModuleSpec, Type
from bell_bench.modular.blocks import block
from bell_bench.modular.library import Library, hash_weights
from bell_bench.modular.path import NEW, ModulePath


@pytest.fixture
def evaluator(tmp_path):
    return make_evaluator(tmp_path)


@pytest.fixture
def library(evaluator):
    """Problem 1 standalone; problem 2 reuses its first two modules; problem 3 is single images."""
    solve(evaluator, make_problem(0))
    solve(evaluator, make_problem(1), "1.1", "1.2", NEW, NEW)
    solve(evaluator, make_problem(2, SINGLE), "1.1", NEW)
    return evaluator.library


def weights_files(library):
    return sorted(library.folder.glob("*.safetensors"))


def test_only_new_modules_are_added_and_names_count_from_one(library):
    assert [module.name for module in library.modules] == [
        "1.1", "1.2", "1.3", "1.4", "2.3", "2.4", "3.2",
    ]  # fmt: skip
    assert [solution.names for solution in library.solutions] == [
        ("1.1", "1.2", "1.3", "1.4"),
        ("1.1", "1.2", "2.3", "2.4"),
        ("1.1", "3.2"),
    ]
    assert library.solution(1).path == ModulePath(("1.1", "1.2", NEW, NEW))
    assert library["2.3"].origin == 1
    assert library["2.3"].layer == 2
    assert len(weights_files(library)) == len(library) == 7


def test_candidates_fit_by_whole_spec_in_order_of_insertion(library):
    def names(spec):
        return [module.name for module in library.candidates(spec)]

    assert names(LOWER[1]) == ["1.2", "3.2"]
    assert names(UPPER[0]) == ["1.3", "2.3"]
    assert names(dataclasses.replace(LOWER[1], activation="relu")) == []
    assert names(dataclasses.replace(LOWER[0], source=Type("vector", (6,)))) == []


def test_sizes(library):
    first = 6 * 5 + 5
    assert library["1.1"].parameters == first
    assert library["1.1"].bytes == 4 * first
    assert library.bytes == library.weight_bytes == 4 * library.parameters
    library.attach("1.1", "mean", torch.zeros(6, dtype=torch.float64))
    assert library.attached_bytes == 48
    assert library.bytes == library.weight_bytes + 48


def test_weights_are_those_that_were_trained(evaluator):
    problem = make_problem(0)
    evaluation = evaluator.evaluate(ModulePath.standalone(4), problem)
    evaluator.library.add(problem, evaluation)
    for layer in range(4):
        kept = evaluator.library.weights(f"1.{layer + 1}")
        trained = evaluation.weights(layer)
        assert kept.keys() == trained.keys()
        assert all(torch.equal(kept[name], trained[name]) for name in kept)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ((NEW, NEW, NEW), "names 3 modules, but the problem's network has 4"),
        (("9.9", NEW, NEW, NEW), "unknown library module for layer 1 '9.9'"),
        (("1.3", NEW, NEW, NEW), "module 1.3 does not fit layer 1: it is «linear concept"),
        ((NEW, NEW, "1.1", NEW), "the layer needs «linear concept(3) → pair(4) relu»"),
        ((NEW, "1.1", NEW, NEW), "fitting: 1.2, 3.2"),
    ],
)
def test_paths_that_do_not_fit_are_refused(library, path, message):
    with pytest.raises(UsageError) as error:
        library.resolve(ModulePath(path), PAIRS)
    assert message in str(error.value)


def test_missing_module_in_an_empty_library(tmp_path):
    with pytest.raises(UsageError, match=r"'1\.1' \(the library has none for this layer\)"):
        Library(tmp_path).resolve(ModulePath(("1.1", NEW, NEW, NEW)), PAIRS)


def test_a_problem_is_solved_once(library, evaluator):
    with pytest.raises(UsageError, match="problem 1 already has a solution"):
        solve(evaluator, make_problem(0))
    with pytest.raises(UsageError, match="problem 8 has no solution"):
        library.solution(7)


def test_save_and_load_in_another_object(library):
    library.attach("1.3", "inputs", torch.arange(8).reshape(2, 4))
    library.save()
    again = Library(library.folder)
    assert len(again) == 0
    again.load()
    assert again.modules == library.modules
    assert again.solutions == library.solutions
    assert torch.equal(again.attached("1.3", "inputs"), torch.arange(8).reshape(2, 4))
    assert again.bytes == library.bytes


def test_settings_of_a_spec_survive_the_index_in_their_order(evaluator):
    spec = ModuleSpec("linear", LOWER[0].source, LOWER[0].target, settings=(("z", 1), ("a", 2)))
    problem = make_problem(0, dataclasses.replace(SINGLE, modules=(spec, LOWER[1])))
    solve(evaluator, problem)
    evaluator.library.save()
    again = Library(evaluator.library.folder)
    again.load()
    assert again.candidates(spec)


def test_an_earlier_index_stays_valid(library, evaluator, tmp_path):
    library.save(tmp_path / "checkpoint.json")
    solve(evaluator, make_problem(3))
    library.attach("1.1", "mean", torch.ones(2))
    library.load(tmp_path / "checkpoint.json")
    assert len(library.solutions) == 3
    assert library["1.1"].attachments == {}
    solve(evaluator, make_problem(3))
    assert library.weights("4.1")


def test_attachments_are_replaced_and_named_when_missing(library):
    library.attach("1.1", "mean", torch.zeros(3))
    library.attach("1.1", "mean", torch.ones(2, 2))
    assert torch.equal(library.attached("1.1", "mean"), torch.ones(2, 2))
    assert library.attached_bytes == 16
    with pytest.raises(UsageError, match=r"unknown attachment of module 1\.1 'meam'.*mean"):
        library.attached("1.1", "meam")
    with pytest.raises(UsageError, match="unknown library module"):
        library.attach("7.7", "mean", torch.ones(1))


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_damage_to_a_weights_file_is_an_error_that_names_it(library, data):
    module = library["1.2"]
    file = library.folder / f"{module.hash}.safetensors"
    sound = file.read_bytes()
    damaged = bytearray(sound)
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(sound) - 1))
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del damaged[data.draw(st.integers(0, len(sound) - 1)) :]
    file.write_bytes(damaged)
    try:
        # a flip may fall on what means nothing, as the padding of the header
        message = ""
        assert hash_weights(library.weights("1.2"), module.spec) == module.hash
    except BellBenchError as error:
        message = str(error)
    finally:
        file.write_bytes(sound)
    assert not message or str(file) in message


def hashed(**content):
    return {"version": 1, "hash": hash_json(content), **content}


def test_missing_files_are_named(library):
    file = library.folder / f"{library['1.2'].hash}.safetensors"
    file.unlink()
    with pytest.raises(BellBenchError, match=f"{file.name} is missing"):
        library.weights("1.2")
    with pytest.raises(BellBenchError, match=r"no library index .*nowhere\.json"):
        library.load(library.folder / "nowhere.json")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: "{",
        lambda index: "[]",
        lambda index: json.dumps({**index, "version": 99}),
        lambda index: json.dumps({**index, "modules": index["modules"][1:]}),
        lambda index: json.dumps(hashed(modules=[{"name": "1.1"}], solutions=[])),
        lambda index: json.dumps(hashed(modules=[], solutions=[{"names": []}])),
        lambda index: json.dumps(
            hashed(modules=[{**index["modules"][0], "hash": "../passwd"}], solutions=[])
        ),
        lambda index: json.dumps(index).replace("concept", "notion", 1),
    ],
)
def test_damaged_index_is_an_error_that_names_it_and_changes_nothing(library, tmp_path, spoil):
    library.save()
    file = tmp_path / "spoilt.json"
    file.write_text(spoil(json.loads((library.folder / "index.json").read_text())))
    before = library.modules
    with pytest.raises(BellBenchError, match=r"spoilt\.json is damaged"):
        library.load(file)
    assert library.modules == before


def test_hash_tells_apart_what_differs():
    weights = block(LOWER[0]).init(LOWER[0], torch.Generator().manual_seed(0))
    variants = [
        hash_weights(weights, LOWER[0]),
        hash_weights(weights, LOWER[1]),
        hash_weights(weights),
        hash_weights({**weights, "bias": torch.ones(5)}, LOWER[0]),
        hash_weights({**weights, "bias": torch.zeros(5, 1)}, LOWER[0]),
        hash_weights({**weights, "bias": torch.zeros(5, dtype=torch.int32)}, LOWER[0]),
        hash_weights({"weight": weights["weight"], "shift": weights["bias"]}, LOWER[0]),
    ]
    assert len(set(variants)) == len(variants)
    strided = {**weights, "weight": weights["weight"].t().contiguous().t()}
    assert hash_weights(strided, LOWER[0]) == variants[0]
