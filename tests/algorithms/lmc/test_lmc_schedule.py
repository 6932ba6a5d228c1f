from __future__ import annotations

from dataclasses import replace

from bell_bench.modular.settings import TrainingSettings
from bell_bench_algorithms.lmc.schedule import Schedule
from tests.algorithms.lmc.making import VALUES

FULL = TrainingSettings(batch=64, max_epochs=100, patience=10**9)


def test_at_the_published_size_epochs_are_the_tables():
    schedule = Schedule.of(4000, FULL, VALUES)
    assert (schedule.epoch, schedule.limit) == (63, 6300)
    assert (schedule.projection, schedule.remainder) == (20 * 63, 30 * 63)
    assert (schedule.every, schedule.window) == (63, 100)


def test_a_shorter_training_shortens_projection_and_window_alike():
    schedule = Schedule.of(4000, replace(FULL, max_updates=630), VALUES)
    assert (schedule.limit, schedule.projection, schedule.remainder) == (630, 126, 189)
    assert schedule.window == 10
    fewer = Schedule.of(400, replace(FULL, max_epochs=50), VALUES)
    assert (fewer.limit, fewer.projection, fewer.remainder) == (350, 70, 105)
    assert fewer.window == 50
    assert Schedule.of(4000, replace(FULL, max_updates=9), VALUES).window == 3
    assert Schedule.of(400, replace(FULL, max_epochs=1200), VALUES).limit == 700


def test_no_validation_within_a_projection():
    schedule = Schedule.of(128, FULL, VALUES)
    schedule.updates = 4
    assert schedule.validating
    schedule.added()
    assert schedule.projecting
    assert not schedule.validating
    schedule.updates = 4 + 40
    assert not schedule.projecting
    assert schedule.validating
    schedule.updates += 1
    assert not schedule.validating, "once per epoch"


def test_an_addition_leaves_time_to_train_it():
    schedule = Schedule.of(64, FULL, VALUES)
    schedule.updates = 90
    schedule.added()
    assert schedule.limit == 120
    early = Schedule.of(64, FULL, VALUES)
    early.added()
    assert early.limit == 100


def test_the_last_update_is_validated_and_never_projected():
    for points, most in ((64, 3), (64, 1), (1000, 7)):
        schedule = Schedule.of(points, replace(FULL, max_updates=most), VALUES)
        schedule.updates = most - 1
        schedule.added()
        schedule.updates = schedule.limit
        assert schedule.over
        assert schedule.validating


def test_patience_counts_from_the_lowest_loss_and_from_the_end_of_a_projection():
    schedule = Schedule.of(64, replace(FULL, patience=10), VALUES)
    schedule.updates = 5
    schedule.validated(0.5)
    schedule.updates = 9
    schedule.validated(0.6)
    schedule.updates = 14
    assert not schedule.over
    schedule.updates = 15
    assert schedule.over
    schedule.added()
    assert not schedule.over
    schedule.updates = 15 + 20 + 10
    assert schedule.over
