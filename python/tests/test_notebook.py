"""The example notebook runs, and shows what it says."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")


def test_the_notebook_runs():
    path = Path(__file__).resolve().parents[1] / "examples" / "ticket_lock.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pages = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert any("<iframe" in page and "draw a ticket" in page for page in pages), "the timeline is shown"
    assert any("<table>" in page for page in pages), "the run is a table"
