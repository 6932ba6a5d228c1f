"""Register my-idea with bell-bench; import nothing heavy."""

from collections.abc import Iterator

from bell_bench import AlgorithmSpec, Option, hookimpl


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="my-idea",
        load="my_idea.algorithm:MyIdea",
        summary="Remembers all points and answers as the nearest do.",
        options={"k": Option(int, 5, "How many nearest points answer.", minimum=1)},
    )
