"""LMC: local module composition (Ostapenko et al. 2021), task-aware."""
