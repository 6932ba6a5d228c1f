"""What bell-bench is told of my-idea; nothing heavy is imported here."""

from collections.abc import Iterator

from bell_bench import AlgorithmSpec, Option, hookimpl


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="my-idea",
        load="my_idea.algorithm:MyIdea",
        summary="One body trained on from problem to problem, a head for each.",
        options={"updates": Option(int, 600, "Steps of training per problem.", minimum=1)},
    )
