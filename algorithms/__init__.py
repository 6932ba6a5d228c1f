"""The built-in algorithms, registered as anyone's would be."""

from __future__ import annotations

from collections.abc import Iterator

from bell_bench import AlgorithmSpec, NoteSpec, Option, PictureSpec, hookimpl
from bell_bench_algorithms.lmc.options import OPTIONS as LMC_OPTIONS
from bell_bench_algorithms.picle.options import SEARCHES, NTOptions, PTOptions, declared

PICLE = "https://arxiv.org/abs/2306.06545"
GAMMA = 0.95
"""O-EWC's decay, which the paper does not name."""


@hookimpl
def bell_bench_algorithms() -> Iterator[AlgorithmSpec]:
    yield AlgorithmSpec(
        name="sa",
        load="bell_bench_algorithms.sa:Standalone",
        summary="A fresh network per problem: no transfer, the yardstick for all others.",
        work="bell_bench_algorithms.work:sa",
    )
    yield AlgorithmSpec(
        name="mntdp-d",
        load="bell_bench_algorithms.mntdp_d:MNTDPD",
        summary="Perceptual transfer: prefixes of the previous solution with the best features.",
        work="bell_bench_algorithms.work:mntdp_d",
        paper="https://arxiv.org/abs/2012.12631",
        options={
            "k": Option(
                int, 5, "How many nearest neighbours choose the previous solution.", minimum=1
            ),
        },
    )
    yield AlgorithmSpec(
        name="houdini",
        load="bell_bench_algorithms.houdini:Houdini",
        summary="Exhaustive search in lexicographic order, cut off after 2L + t paths.",
        work="bell_bench_algorithms.work:houdini",
        paper="https://arxiv.org/abs/1804.00218",
        options={
            "paths": Option(
                int,
                None,
                "How many paths to evaluate per problem, the standalone one included; "
                "none for 2L + t (L modules, t solved problems).",
                optional=True,
                minimum=1,
            ),
        },
    )
    yield AlgorithmSpec(
        name="rs",
        load="bell_bench_algorithms.rs:RandomSearch",
        summary="Random paths until the training FLOPs of 2L + t standalone paths are spent.",
        work="bell_bench_algorithms.work:rs",
        options={
            "trainings": Option(
                int,
                None,
                "The budget per problem in standalone trainings, the standalone path's included; "
                "none for 2L + t (L modules, t solved problems).",
                optional=True,
                minimum=1,
            ),
            "paths_per_training": Option(
                int,
                10,
                "At most so many paths per standalone training of the budget, "
                "since paths without new modules train nothing and cost nothing.",
                minimum=1,
            ),
        },
    )
    yield AlgorithmSpec(
        name="picle",
        load="bell_bench_algorithms.picle.picle:Picle",
        summary="Probabilistic search: likeliest prefixes, then Bayesian optimisation of suffixes.",
        work="bell_bench_algorithms.work:picle",
        paper=PICLE,
        options={**declared(PTOptions, NTOptions), "searches": SEARCHES},
    )
    yield AlgorithmSpec(
        name="pt-only",
        load="bell_bench_algorithms.picle.picle:PTOnly",
        summary="PICLE with its search for perceptual transfer alone.",
        work="bell_bench_algorithms.work:pt_only",
        paper=PICLE,
        options=declared(PTOptions),
    )
    yield AlgorithmSpec(
        name="nt-only",
        load="bell_bench_algorithms.picle.picle:NTOnly",
        summary="PICLE with its search for latent transfer alone.",
        work="bell_bench_algorithms.work:nt_only",
        paper=PICLE,
        options=declared(NTOptions),
    )
    yield AlgorithmSpec(
        name="o-ewc",
        load="bell_bench_algorithms.o_ewc:OEWC",
        summary="One network; a penalty keeps weights that mattered (online EWC, on Avalanche).",
        work="bell_bench_algorithms.work:one_network",
        paper="https://arxiv.org/abs/1805.06370",
        options={
            "strength": Option(float, 1000.0, "λ of the penalty λ/2 · Σ F (θ − θ*)².", minimum=0),
            "samples": Option(int, 256, "Samples whose gradients give the Fisher.", minimum=1),
            "gamma": Option(
                float,
                GAMMA,
                "Decay of the former Fisher; under authors-code, which replaces the Fisher, it may "
                "not be set.",
                minimum=0,
                maximum=1,
            ),
        },
    )
    yield AlgorithmSpec(
        name="er",
        load="bell_bench_algorithms.er:ER",
        summary="One network; each batch is joined by stored examples (replay, on Avalanche).",
        work="bell_bench_algorithms.work:replay",
        paper="https://arxiv.org/abs/1902.10486",
        options={
            "per_class": Option(
                int,
                None,
                "Examples stored per class; none: the protocol's (BELL 40, under authors-code 20), "
                "15 elsewhere.",
                optional=True,
                minimum=1,
            ),
        },
    )
    yield AlgorithmSpec(
        name="lmc",
        load="bell_bench_algorithms.lmc.lmc:LMC",
        summary="Every layer composes all its modules, each by how well it knows the input.",
        paper="https://arxiv.org/abs/2111.07736",
        options=LMC_OPTIONS,
    )


@hookimpl
def bell_bench_notes() -> Iterator[NoteSpec]:
    yield NoteSpec(
        "pt",
        load="bell_bench_algorithms.picle.notes:tell_pt",
        summary="PICLE's search for perceptual transfer, layer by layer",
    )
    yield NoteSpec(
        "nt",
        load="bell_bench_algorithms.picle.notes:tell_nt",
        summary="PICLE's search for latent transfer, suffix by suffix",
    )
    yield NoteSpec(
        "nearest_neighbours",
        load="bell_bench_algorithms.notes:tell_neighbours",
        summary="MNTDP-D's earlier solutions, the nearest first",
    )


@hookimpl
def bell_bench_pictures() -> Iterator[PictureSpec]:
    yield PictureSpec(
        "paths",
        load="bell_bench_algorithms.paths_picture:draw_paths",
        summary="a modular algorithm's library and the paths it chose",
    )
