"""What bell-bench is told of the bandit; nothing heavy is imported here."""

from collections.abc import Iterator

from bell_bench import AlgorithmSpec, Option, hookimpl


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="bandit",
        load="bell_bench_bandit.bandit:Bandit",
        summary="A bandit over previous solutions, whose first or last modules are tried.",
        options={
            "pulls": Option(int, 8, "How many paths are tried per problem.", minimum=1),
            "curiosity": Option(
                float, 0.1, "What an untried arm may gain, as a share of accuracy.", minimum=0
            ),
        },
    )
