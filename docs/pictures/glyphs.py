"""Makes glyphs.png beside this file: the nine embedded domains on one sheet."""

from pathlib import Path

from matplotlib.figure import Figure

from bell_bench.data import BELL_DOMAINS, glyphs
from bell_bench.data.picture import contact_sheet

figure = Figure(figsize=(10, 9.6), dpi=110, layout="constrained")
for place, name in enumerate(BELL_DOMAINS, start=1):
    axes = figure.add_subplot(3, 3, place)
    axes.imshow(contact_sheet(*glyphs.draw(name, "train", 512), 9), cmap="gray", vmin=0, vmax=255)
    axes.set_title(name, fontsize=10)
    axes.axis("off")
figure.savefig(Path(__file__).with_suffix(".png"))
