"""Short formulas as HTML: letters, indices, accents. For places where MathJax is not loaded.

>>> math_html(r"W_{xh}")
'<i>W</i><sub>xh</sub>'
"""

from __future__ import annotations

import re
from html import escape

SYMBOLS = {
    "alpha": "α", "beta": "β", "varphi": "φ", "phi": "φ", "sigma": "σ", "tau": "τ", "ell": "ℓ", "odot": "⊙",
    "circ": "∘", "top": "⊤", "cdot": "·", "dots": "…", "tanh": "tanh", "oplus": "⊕",
}  # fmt: skip
ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304", "overrightarrow": "\u20d7", "overleftarrow": "\u20d6"}
TOKEN = re.compile(r"\\([a-zA-Z]+)|\\[,; !]|([{}_^])|(\s+)|(.)")


def math_html(tex: str) -> str:
    """The formula as HTML; ValueError for what is not one of the few things known here."""
    tokens = [(m[1] and "\\" + m[1]) or m[2] or m[4] for m in TOKEN.finditer(tex)]
    html, rest = _row([token for token in tokens if token], upright=False)
    if rest:
        raise ValueError(f"{tex!r}: a brace too many")
    return html


def _row(tokens: list[str], upright: bool) -> tuple[str, list[str]]:
    html = ""
    while tokens and tokens[0] != "}":
        item, tokens = _item(tokens, upright)
        html += item
    return html, tokens


def _item(tokens: list[str], upright: bool) -> tuple[str, list[str]]:
    """The HTML of the first thing, and the tokens after it."""
    first, rest = tokens[0], tokens[1:]
    if first in "_^" and rest:
        inner, rest = _item(rest, upright=True)
        return f"<{'sub' if first == '_' else 'sup'}>{inner}</{'sub' if first == '_' else 'sup'}>", rest
    if first == "{":
        inner, rest = _row(rest, upright)
        return inner, rest[1:]
    if first[1:] in ACCENTS and rest:
        inner, rest = _item(rest, upright)
        return re.sub(r"(\w)(?=\W*$|</i>)", rf"\1{ACCENTS[first[1:]]}", inner, count=1), rest
    if first.startswith("\\"):
        if first[1:] not in SYMBOLS:
            raise ValueError(f"{first}: not known to math_html")
        symbol = SYMBOLS[first[1:]]
        return (f" {symbol} " if symbol in "⊙∘⊕" else symbol), rest
    return (f"<i>{first}</i>" if first.isalpha() and not upright else escape(first)), rest
