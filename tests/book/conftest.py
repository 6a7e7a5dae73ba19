"""The extension of the book is no installed package: Jupyter Book finds it by its folder, and so do the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "extension"))
