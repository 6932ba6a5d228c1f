"""The source of a plugin: a suite so small that a whole run takes a second, and algorithms that
misbehave in one way each."""

TINY = """
import dataclasses, os, signal, time
import numpy as np
from bell_bench import Algorithm, AlgorithmSpec, Option, SuiteSpec, hookimpl
from bell_bench.data import DomainSizes
from bell_bench.suites.bell.scales import BellScale
from bell_bench.suites.bell.suite import Bell, BellSequence

SCALE = BellScale("quick", "tiny", 200, 200, 64, 64, DomainSizes(800, 80, 80), width=4, patience=40,
              max_updates=40, validate_every=20, learning_rate=0.002, weight_decay=0.1)

class Tiny(Bell):
    name = "tiny"
    scales = {"quick": SCALE}
    def sequence(self, name, *, seed, scale, protocol, data):
        found = super().sequence(name, seed=seed, scale=scale, protocol=protocol, data=data)
        return dataclasses.replace(found, scale=SCALE)

TINY = Tiny()

class Spoken(Tiny):
    "A suite with a source of its own, one scale and one protocol, under names of its own."
    name = "spoken"
    scales = {"brief": SCALE}
    protocols = {"plain": Bell.protocols["paper"]}
    sources = {"voices": "not images at all"}
    def sequence(self, name, *, seed, scale, protocol, data):
        assert (scale, protocol, data) == ("brief", "plain", "voices")
        return TINY.sequence(name, seed=seed, scale="quick", protocol="paper", data="glyphs")

SPOKEN = Spoken()

class Constant(Algorithm):
    "Predicts one class; misbehaves when asked to, on the third problem."
    def __init__(self, context, **options):
        super().__init__(context, **options)
        self.learnt = {}
    def learn(self, problem):
        mended = os.path.exists(self.options.get("until") or "/no/such/file")
        if problem.index == 2 and not mended:
            self.misbehave()
        self.learnt[problem.index] = problem.classes
        self.context.account("classes", 8 * len(self.learnt))
    def predict(self, index, inputs):
        import torch
        return torch.eye(self.learnt[index])[[0] * len(inputs)]
    def save(self, folder):
        (folder / "learnt.txt").write_text(" ".join(f"{k}:{v}" for k, v in self.learnt.items()))
    def load(self, folder):
        pairs = (folder / "learnt.txt").read_text().split()
        self.learnt = {int(k): int(v) for k, v in (pair.split(":") for pair in pairs)}
    def misbehave(self):
        pass

class Fail(Constant):
    def misbehave(self): raise ValueError("no such luck")

class Hang(Constant):
    def misbehave(self): time.sleep(600)

class Leave(Constant):
    def misbehave(self): os._exit(3)

class Die(Constant):
    def misbehave(self): os.kill(os.getpid(), signal.SIGKILL)

class Leak(Constant):
    def misbehave(self):
        self.leaked = [np.ones(2**24) for _ in range(20)]
        time.sleep(60)

class Refuse(Constant):
    def misbehave(self):
        from bell_bench.errors import Unsupported
        raise Unsupported("not for me")

class Shapeless(Constant):
    def predict(self, index, inputs):
        return super().predict(index, inputs)[:, :1]

class Forgetful(Constant):
    "Right on the newest problem's first class, then always the other one."
    def predict(self, index, inputs):
        import torch
        newest = max(self.learnt) == index
        return torch.eye(self.learnt[index])[[0 if newest else 1] * len(inputs)]

OPTIONS = {"until": Option(str, "", "A file; once it exists, all goes well")}

@hookimpl
def bell_bench_suites():
    yield SuiteSpec("tiny", "tiny:TINY", "BELL in a second")
    yield SuiteSpec("spoken", "tiny:SPOKEN", "no images")

@hookimpl
def bell_bench_algorithms():
    for kind in ("Constant", "Fail", "Hang", "Leave", "Die", "Leak", "Refuse", "Shapeless",
                 "Forgetful"):
        yield AlgorithmSpec(kind.lower(), f"tiny:{kind}", "for tests", options=OPTIONS)
    yield AlgorithmSpec("elsewhere", "tiny:Constant", "for another suite", suites=("ctrl",))
    yield AlgorithmSpec("absent", "tiny:NoSuchClass", "cannot be imported")

@hookimpl
def bell_bench_run_started(run):
    _log(f"started {len(run['jobs'])}")

@hookimpl
def bell_bench_problem_solved(job, problem):
    _log(f"solved {job.algorithm} {problem['index']}")

@hookimpl
def bell_bench_job_finished(job, record):
    _log(f"finished {job.algorithm} {record.status}")

def _log(line):
    if "TINY_LOG" in os.environ:
        with open(os.environ["TINY_LOG"], "a") as log:
            print(line, file=log)
"""
