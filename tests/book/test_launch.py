"""Binder and Colab: buttons with a repository address, none without; tried on a book of one page."""

import warnings

import nbformat
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Sphinx and its theme are not ours to mend
    from sphinx.application import Sphinx

ADDRESS = "https://github.com/someone/unrolled"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", [ADDRESS, ""])
def test_buttons_appear_only_with_an_address(address, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A page")])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "index.ipynb")
    options = {"repository_url": address, "repository_branch": "main"} if address else {}
    settings = {
        "extensions": ["myst_nb", "sphinx_book_theme", "unrolled_book.launch"],
        "html_theme": "sphinx_book_theme",
        "html_theme_options": options,
        "nb_execution_mode": "off",
    }
    book = Sphinx(str(tmp_path), None, str(tmp_path / "out"), str(tmp_path / "tree"), "html", settings, status=None)
    book.build()
    page = (tmp_path / "out" / "index.html").read_text("utf8")
    assert ("mybinder.org/v2/gh/someone/unrolled/main?urlpath=lab/tree/index.ipynb" in page) == bool(address)
    assert ("colab.research.google.com/github/someone/unrolled/blob/main/index.ipynb" in page) == bool(address)
    assert ("Launch" in page) == bool(address)
