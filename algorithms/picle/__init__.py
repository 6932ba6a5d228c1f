"""PICLE: a probabilistic search for perceptual and latent transfer (docs/picle.md)."""
