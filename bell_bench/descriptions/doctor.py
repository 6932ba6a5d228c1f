"""Check what works on this machine, and say what to do about what does not."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import platform
import shutil
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata

from bell_bench.errors import BellBenchError
from bell_bench.import_check import try_out
from bell_bench.import_strings import one_line
from bell_bench.units import format_size

PATIENCE = 2.0
"""How many seconds pass before we say what is being tried."""
GIGABYTE = 1000**3


@dataclasses.dataclass(frozen=True)
class Check:
    """One finding."""

    name: str
    status: str
    """ok, warn or fail; fail means that something needed does not work."""
    found: str
    advice: str = ""


def examine() -> list[Check]:
    """Return all findings, in the order they are shown.

    This process only reads metadata. An import may end or hang a process, so all other checks run
    in another one.
    """
    checks = [*examine_section("python"), *examine_section("packages")]
    told = try_out(f"{__name__}:_examine_elsewhere", ELSEWHERE, os.environ, patience=PATIENCE)
    for section in ELSEWHERE:
        checks += _findings(section, told[section])
    return checks


def examine_section(name: str) -> list[Check]:
    """Return the findings of one section, made in this process."""
    try:
        return list(SECTIONS[name]())
    except Exception as error:  # a check that crashes must not end the others
        return [Check(name, "fail", one_line(error), "report this")]


def _examine_elsewhere(section: str) -> str:
    return json.dumps([dataclasses.asdict(check) for check in examine_section(section)])


def _findings(section: str, told: str) -> list[Check]:
    """Return what another process has found, or how it ended."""
    try:
        return [Check(**check) for check in json.loads(told)]
    except ValueError:
        return [Check(f"trying {section}", "fail", told, ADVICE.get(section, "report this"))]


def _python() -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} on {platform.platform()}")


def _packages() -> Iterator[Check]:
    """Compare our declared dependencies with what is installed, by metadata alone."""
    from packaging.requirements import Requirement

    yield Check("bell-bench", "ok", metadata.version("bell-bench"))
    for line in metadata.requires("bell-bench") or []:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        advice = f"pip install '{requirement.name}{requirement.specifier}'"
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            yield Check(requirement.name, "fail", "not installed", advice)
            continue
        fits = requirement.specifier.contains(version, prereleases=True)
        found = version if fits else f"{version}, {requirement.specifier} is needed"
        yield Check(requirement.name, *(("ok", found) if fits else ("fail", found, advice)))


def _torch() -> Iterator[Check]:
    try:
        import torch

        torch.ones(2, 2) @ torch.ones(2, 2)
    except Exception as error:
        yield Check("torch build", "fail", one_line(error), ADVICE["torch"])
        return
    build = f"CUDA {torch.version.cuda}" if torch.version.cuda else "CPU"
    yield Check("torch build", "ok", f"{torch.__version__}, {build}")


def _torchvision() -> Iterator[Check]:
    from bell_bench.compat import TorchvisionError, declared_operators, import_torchvision

    name = "torchvision state"
    try:
        import_torchvision()
    except TorchvisionError as error:
        advice = "needed by er, o-ewc and avalanche: algorithms only"
        yield Check(name, "fail", str(error), advice)
        return
    found = (
        "built for another torch, so its compiled operators are missing; bell-bench needs none "
        "of them and imports it all the same (bell_bench.compat)"
    )
    yield Check(name, "ok", found if declared_operators() else "imports as it is")


def _devices() -> Iterator[Check]:
    import torch

    devices = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("Apple GPU (mps)")
    if torch.version.cuda and not devices:
        advice = "a driver may be missing (nvidia-smi tells), or this machine has none"
        yield Check("devices", "warn", "CPU only, although torch is a CUDA build", advice)
    else:
        yield Check("devices", "ok", ", ".join(["CPU", *devices]))


def _threads() -> Iterator[Check]:
    import torch

    from bell_bench.harness.executor import cores

    limits = [
        f"{name}={os.environ[name]}"
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
        if name in os.environ
    ]
    found = ", ".join([f"{cores()} cores", f"torch uses {torch.get_num_threads()}", *limits])
    if torch.get_num_threads() > cores():
        yield Check("threads", "warn", found, "unset these variables, or set them to the cores")
    else:
        yield Check("threads", "ok", found)


def _machine() -> Iterator[Check]:
    import psutil

    from bell_bench.harness.executor import cores

    memory = psutil.virtual_memory()
    found = f"{format_size(memory.available)} of {format_size(memory.total)} free"
    if memory.available < GIGABYTE * cores():
        yield Check("memory", "warn", found, "a job may need 1 GB: lower --jobs or set --memory")
    else:
        yield Check("memory", "ok", found)


def _folders() -> Iterator[Check]:
    from bell_bench.folders import cache_folder, data_folder

    yield _folder("runs", pathlib.Path("runs"), "choose another folder with --out")
    yield _folder("cache", cache_folder(), "choose another with BELL_BENCH_CACHE")
    yield _folder("data", data_folder(), "choose another with BELL_BENCH_DATA")


def _folder(name: str, folder: pathlib.Path, advice: str) -> Check:
    from bell_bench.harness.plan import NEEDED_DISK

    folder = folder.resolve()
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    found = f"{folder}, {format_size(free)} free"
    if not there.is_dir() or not os.access(there, os.W_OK):
        return Check(f"{name} folder", "fail", f"{folder} cannot be written", advice)
    status = "ok" if free >= 2 * GIGABYTE else "warn" if free >= NEEDED_DISK else "fail"
    return Check(f"{name} folder", status, found, advice if status != "ok" else "")


def _data() -> Iterator[Check]:
    from bell_bench.data import sources
    from bell_bench.data.status import statuses

    for source in sources():
        try:
            rows = statuses(source)
        except BellBenchError as error:
            yield Check(f"data {source}", "warn", str(error), "see its plugin")
            continue
        lacking = [row.name for row in rows if row.status != "present"]
        found = f"{len(rows) - len(lacking)} of {len(rows)} domains are here"
        if lacking:
            found += f", not {', '.join(lacking)}"
            advice = f"for --data {source} only: `bell-bench data download`, or `data import`"
            yield Check(f"data {source}", "warn", found, advice)
        else:
            yield Check(f"data {source}", "ok", found)


def _plugins() -> Iterator[Check]:
    from bell_bench.plugins import PluginWarning, registry

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        loaded = registry()
    broken = [info for info in loaded.plugins if info.status == "broken"]
    for info in broken:
        advice = f"repair or uninstall {info.distribution}, or tell its authors"
        yield Check(f"plugin {info.name}", "warn", f"{info.label} is broken: {info.reason}", advice)
    for provided in loaded.suites:
        try:
            loaded.suite(provided.qualified)
        except Exception as error:
            yield Check(f"suite {provided.spec.name}", "warn", str(error), "see its plugin")
    if not loaded.plugins:
        advice = "unset BELL_BENCH_PLUGINS, or install bell-bench again"
        yield Check("plugins", "fail", "none", advice)
    elif len(broken) < len(loaded.plugins):
        yield Check("plugins", "ok", f"{len(loaded.plugins) - len(broken)} work")


SECTIONS: dict[str, Callable[[], Iterator[Check]]] = {
    "python": _python,
    "packages": _packages,
    "torch": _torch,
    "torchvision": _torchvision,
    "devices": _devices,
    "threads": _threads,
    "memory": _machine,
    "folders": _folders,
    "data": _data,
    "plugins": _plugins,
}
ELSEWHERE = [name for name in SECTIONS if name not in ("python", "packages")]
ADVICE = {
    "torch": "install torch again, see https://pytorch.org/get-started/locally",
    "torchvision": "install both again, pip install --upgrade torch torchvision",
    "devices": "look at the driver (nvidia-smi); CUDA_VISIBLE_DEVICES= hides all GPUs",
    "plugins": "`bell-bench plugins` names them; BELL_BENCH_PLUGINS limits which are loaded",
}
"""What to do if a section ended its process."""
