"""Finds the packages: all that lie in these folders. pyproject.toml says everything else."""

from setuptools import find_packages, setup

FOLDERS = {
    "bell_bench": "bell_bench",
    "bell_bench_algorithms": "algorithms",
    "bell_bench_leaderboard": "leaderboard",
    "bell_bench_authors": "plugins/authors",
    "bell_bench_avalanche": "plugins/avalanche",
    "bell_bench_drawn": "plugins/drawn",
    "bell_bench_paper": "plugins/paper",
    "bell_bench_ray": "plugins/ray",
    "bell_bench_submissions": "plugins/submissions",
}

setup(
    package_dir=FOLDERS,
    packages=[
        package
        for top, folder in FOLDERS.items()
        for package in (top, *(f"{top}.{inner}" for inner in find_packages(folder)))
    ],
)
