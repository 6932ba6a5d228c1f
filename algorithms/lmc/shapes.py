"""What LMC needs to know of a convolutional module: read from its types, so that width and sides
follow the suite's scale."""

from __future__ import annotations

from dataclasses import dataclass

from bell_bench import Architecture, ModuleSpec, Unsupported


@dataclass(frozen=True)
class LayerShape:
    """A layer of modules: the maps it takes and gives, and how it gets from one to the other."""

    channels: int
    side: int
    """Of what comes in."""
    width: int
    """Channels of what comes out."""
    out: int
    """Side of what comes out."""
    kernel: int
    stride: int = 1
    padding: int = 0
    pool: int = 0
    """CTrL's modules are normalised and pooled; 0 for a plain convolution, as BELL's."""

    @property
    def up(self) -> tuple[int, int, int]:
        """Kernel, stride and padding of the decoder's first, widening convolution."""
        return (self.pool, self.pool, self.padding) if self.pool else (self.kernel, self.stride, 0)

    @property
    def last_kernel(self) -> int:
        """Kernel of the decoder's last convolution, which makes the side fit."""
        kernel, stride, padding = self.up
        return self.side - ((self.out - 1) * stride - 2 * padding + kernel) + 1


def shape(spec: ModuleSpec) -> LayerShape:
    """The shape of a module between maps, if LMC knows its kind."""
    if spec.kind not in ("conv", "conv-norm-pool") or spec.activation != "relu":
        raise Unsupported(
            f"LMC has no decoder for the module «{spec}»: it knows CTrL's (convolution, batch "
            "normalisation, pooling) and plain convolutions; try --suite ctrl or --suite bell"
        )
    side, *_ = spec.source.shape
    channels = spec.source.shape[2] if len(spec.source.shape) == 3 else 1
    out, _, width = spec.target.shape
    return LayerShape(channels, side, width, out, **dict(spec.settings))


def convolutional(architecture: Architecture) -> tuple[ModuleSpec, ...]:
    """The leading modules between maps, each of which becomes a layer of LMC's."""
    specs = architecture.modules[: architecture.joint]
    maps = [len(spec.target.shape) == 3 for spec in specs]
    return specs[: maps.index(False) if False in maps else len(maps)]
