"""Register my-idea with bell-bench; import nothing heavy."""

from collections.abc import Iterator

from bell_bench import AlgorithmSpec, Option, hookimpl


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="my-idea",
        load="my_idea.algorithm:MyIdea",
        summary="Tries the beginnings of the latest solutions.",
        options={
            "solutions": Option(int, 5, "How many of the latest solutions are tried.", minimum=1)
        },
    )
