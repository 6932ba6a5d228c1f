"""The source of a plugin whose algorithms go wrong in one way each, on their third problem."""

FAULTY = '''
import ctypes, os, shutil, signal, sys, time
import numpy as np
from bell_bench import AlgorithmSpec, hookimpl
from tiny import OPTIONS, Constant

class Nan(Constant):
    def predict(self, index, inputs):
        return super().predict(index, inputs) * float("nan")

class Complex(Constant):
    def predict(self, index, inputs):
        return 1j * super().predict(index, inputs)

class Listed(Constant):
    def predict(self, index, inputs):
        return super().predict(index, inputs).tolist()

class Whole(Constant):
    "Scores that are whole numbers are no fault."
    def predict(self, index, inputs):
        return super().predict(index, inputs).char()

class Deaf(Constant):
    "Busy in Python, and deaf to polite signals."
    def misbehave(self):
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
        while True:
            pass

class Native(Constant):
    "Asleep in C with Python's lock held: no thread of Python runs any more."
    def misbehave(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            ctypes.PyDLL(None).sleep(3600)

def child(work):
    """Fork; the child does ``work`` in a session of its own, so that its group's end is not its."""
    if os.fork() == 0:
        os.setsid()
        with open(os.environ["CHILDREN"], "a") as file:
            print(os.getpid(), file=file)
        work()
        time.sleep(3600)
        os._exit(0)

class Breed(Constant):
    "Stays small itself; its children together do not."
    def misbehave(self):
        for _ in range(3):
            child(lambda: setattr(self, "held", np.ones(60_000_000)))
        time.sleep(3600)

class Share(Constant):
    "What a forked child shares with its parent is not there twice."
    def misbehave(self):
        self.held = np.ones(80_000_000)
        child(lambda: None)
        time.sleep(3)
        del self.held

class Abandon(Constant):
    "Dies and leaves a child."
    def misbehave(self):
        child(lambda: None)
        time.sleep(2)
        os._exit(5)

class Flood(Constant):
    def misbehave(self):
        while True:
            sys.stdout.write("no end " * 100_000)

class Crash(Constant):
    def misbehave(self):
        ctypes.string_at(0)

class Homeless(Constant):
    "Deletes its working folder, with library and checkpoints."
    def misbehave(self):
        shutil.rmtree(self.context.library.folder.parent)

class Nothing(Constant):
    "Deletes all that there is of its job."
    def misbehave(self):
        shutil.rmtree(self.context.library.folder.parent.parent)
        raise ValueError("nothing is left")

@hookimpl
def bell_bench_algorithms():
    yield AlgorithmSpec("leaving", "leaving:Leaving", "its import ends the process")
    yield AlgorithmSpec("bursting", "bursting:Bursting", "its import crashes the process")
    for kind in (Nan, Complex, Listed, Whole, Deaf, Native, Breed, Share, Abandon, Flood, Crash,
                 Homeless, Nothing):
        name = kind.__name__
        yield AlgorithmSpec(name.lower(), f"faulty:{name}", "for tests", options=OPTIONS)
'''

DEADLY = {
    "leaving": "import os; os._exit(7)",
    "bursting": "import ctypes; ctypes.string_at(0)",
}
"""The sources of modules that end the process that imports them."""
