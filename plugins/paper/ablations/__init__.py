"""The paper's two ablations of PICLE, as ``bell-bench ablate`` runs them (docs/ablations.md)."""
