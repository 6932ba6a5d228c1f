"""The notebook of the documentation runs from its first cell to its last."""

from __future__ import annotations

import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "docs" / "notebooks" / "tour.ipynb"


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: pathlib.Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install -e '.[docs]'")
    nbclient = pytest.importorskip("nbclient", reason="pip install -e '.[docs]'")
    pytest.importorskip("ipykernel", reason="pip install -e '.[docs]'")
    book = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [
        output["data"]
        for cell in book.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert any("<table" in data.get("text/html", "") for data in shown), "results show as a table"
    assert any("image/png" in data for data in shown), "the sequence is drawn"
