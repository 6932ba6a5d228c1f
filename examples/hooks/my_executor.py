"""An executor: jobs run on this machine, one after another, however many cores there are."""

from bell_bench import LocalExecutor


class OneByOne(LocalExecutor):
    """Runs one job at a time."""

    def __init__(self, store, limits, workers=None, address=None):
        super().__init__(store, limits, workers=1)
