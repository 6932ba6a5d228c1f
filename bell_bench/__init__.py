"""bell-bench: which continual-learning algorithm transfers what, and at which cost?"""

__version__ = "0.1.0"
