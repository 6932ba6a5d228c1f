"""The command line on the tiny suite, as the tests of the harness run it."""

from tests.harness.conftest import house

__all__ = ["house"]
