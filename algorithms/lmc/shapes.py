"""What LMC needs to know of a convolutional module. It is read from the module's types, so that
width and sides follow the suite's scale."""

from __future__ import annotations

from dataclasses import dataclass

from bell_bench import Architecture, ModuleSpec, Unsupported


@dataclass(frozen=True)
class LayerShape:
    """The shape of a layer's modules: the maps they take and give, and their convolution."""

    channels: int
    side: int
    """The side of the maps that come in."""
    width: int
    """The channels of the maps that come out."""
    out: int
    """The side of the maps that come out."""
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
    """Return a module's shape; raise ``Unsupported`` if LMC does not know its kind."""
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
    """Return the first modules, as long as they give maps; each becomes a layer of LMC."""
    specs = architecture.modules[: architecture.joint]
    maps = [len(spec.target.shape) == 3 for spec in specs]
    return specs[: maps.index(False) if False in maps else len(maps)]
