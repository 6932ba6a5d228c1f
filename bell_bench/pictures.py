"""Write pictures as files, whole or not at all, in any format that matplotlib writes."""

from __future__ import annotations

import io
import pathlib
from typing import TYPE_CHECKING, Any

from bell_bench.errors import UsageError
from bell_bench.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture_format(file: pathlib.Path) -> str:
    """Return the format that a file's name asks for; raise UsageError for an unknown one."""
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    asked = file.suffix.removeprefix(".").lower()
    if asked not in known:
        raise UsageError(f"{file}: a picture's name ends in one of .{', .'.join(known)}")
    return asked


def save_picture(figure: Figure, file: str | pathlib.Path, **settings: Any) -> None:
    """Write a figure in the format that the file's name asks for."""
    place, content = pathlib.Path(file), io.BytesIO()
    figure.savefig(content, format=picture_format(place), **settings)
    write_whole(place, content.getvalue())
