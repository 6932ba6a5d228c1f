"""Register my-idea with bell-bench; import nothing heavy."""

from collections.abc import Iterator

from bell_bench import AlgorithmSpec, Option, hookimpl


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="my-idea",
        load="my_idea.algorithm:MyIdea",
        summary="One network, drawn to the weights that the last problem left; a head for each.",
        options={"strength": Option(float, 0.01, "Weight of the drift in the loss.", minimum=0)},
    )
