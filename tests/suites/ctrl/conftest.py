"""The fixture that keeps images out of these tests."""

from .fake_images import loads

__all__ = ["loads"]
