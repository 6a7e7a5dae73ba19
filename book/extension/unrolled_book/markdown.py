"""Markdown as plain text, for hover texts."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """The words of a piece of Markdown, without links, emphasis, code marks and line ends.

    >>> plain("A *gate* of the [LSTM](#lstm), see `lstm_step`.")
    'A gate of the LSTM, see lstm_step.'
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*|(?<!\w)\*|\*(?!\w)|`|\$", "", text)
    return " ".join(text.split())
