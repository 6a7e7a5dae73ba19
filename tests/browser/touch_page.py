"""What the tests of the touchable models share: which models a page holds, its numbers and its words."""

import re

from book import ROOT

MODELS = {  # page -> the models on it
    path.stem: re.findall(r'data-touch="(\w+)"', path.read_text("utf8"))
    for path in sorted((ROOT / "play").glob("*.md"))
}
RUN = "([name, input]) => touch.models[name].compute(touch.data[name], input)"
READY = """() => [...document.querySelectorAll('.touch')].every(place => place.matches('.touch-live') &&
    place.querySelector('.touch-said').textContent)"""


def largest_error(ours, theirs) -> float:
    """The largest difference of two nested lists of numbers; their shapes must agree."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        return max((largest_error(a, b) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    return abs(ours - theirs)


def vectors(page, name: str) -> list[dict]:
    """What PyTorch computed with the weights of the page."""
    found = page.evaluate("name => touch.data[name].tests", name)
    assert len(found) >= 2
    return found


def status(part) -> str:
    """What a model says in words; part: a page with one model, or the model's own place."""
    return part.locator(".touch-said").inner_text().replace("−", "-").replace("\u00a0", " ")
