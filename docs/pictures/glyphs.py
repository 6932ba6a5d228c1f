"""Makes glyphs.png beside this file: the nine embedded domains on one sheet."""

import io
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from bell_bench.data.contact_sheet import contact_sheet
from bell_bench_drawn import glyphs
from bell_bench_drawn.glyph_styles import NAMES

figure = Figure(figsize=(9, 8.6), dpi=100, layout="constrained")
for place, name in enumerate(NAMES, start=1):
    axes = figure.add_subplot(3, 3, place)
    axes.imshow(
        contact_sheet(*glyphs.draw(name, "train", 512), range(8), 9), cmap="gray", vmin=0, vmax=255
    )
    axes.set_title(name, fontsize=10)
    axes.axis("off")
drawn = io.BytesIO()
figure.savefig(drawn, format="png")
sixteen_greys = Image.open(drawn).convert("L").quantize(16)
sixteen_greys.save(Path(__file__).with_suffix(".png"), optimize=True)
