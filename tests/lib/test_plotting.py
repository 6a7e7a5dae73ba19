"""The same figure gives the same file, and every drawing returns its Axes."""

import io
import random

import matplotlib
import numpy as np
import pytest
import torch

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from unrolled import diagrams, plotting


def svg(figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        plotting.begin(seed=0)
        yield
    plt.close("all")
    torch.set_printoptions(profile="default")


def test_begin_fixes_all_random_numbers():
    draws = []
    for _ in range(2):
        plotting.begin(seed=5)
        draws.append((random.random(), np.random.rand(), torch.rand(()).item()))
    assert draws[0] == draws[1] and torch.get_num_threads() == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax=None: plotting.over_seeds(range(3), [[1, 2, 3], [2, 2, 2]], "rnn", ax=ax),
        lambda ax=None: plotting.accuracy_against_position(
            {"fcnn": [[1, 0.5, 0.5]], "rnn": [[1, 1, 1]]}, seen=1, ax=ax
        ),
        lambda ax=None: diagrams.unrolled(["a", "real", "stinker"], ax=ax),
        lambda ax=None: plotting.gradient_heatmap(np.array([[1, 0], [1e-9, 2]]), low=1e-8, high=1, ax=ax),
        lambda ax=None: plotting.dots({"one": [0.1, 0.2], "both": [0.3, 0.5]}, {"one": "#0072b2"}, ax=ax),
        lambda ax=None: plotting.word_bars(["it", "is", "so"], [0.1, 0.9, 0.2], [False, True, False], ax=ax),
        lambda ax=None: plotting.surprise_over_letters("itis", [3, 1, 2, 0.1], [True, False, True, False], ax=ax),
        lambda ax=None: plotting.attention_map(np.eye(2, 3), ["a", "b"], ["x", "y", "z"], "head 1", ax=ax),
        lambda ax=None: plotting.pairs_of_dots({"one": ([1, 2], [2, 3])}, ("seen", "hidden"), ax=ax),
        lambda ax=None: diagrams.encoder_decoder("ab", ["x", "y"], ax=ax),
        lambda ax=None: diagrams.transformer(ax=ax),
        lambda ax=None: diagrams.looking_back("ab", ["x", "y"], [[1, 0], [0.3, 0.7]], ax=ax),
        lambda ax=None: plotting.gaze(np.eye(8), np.full((2, 2), 0.25), "seven", ax=ax),
        lambda ax=None: plotting.written([[0, 1, 0], [1, 0, 1], [0, 1, 1]], ax=ax),
    ],
)
def test_drawings_return_their_axes_and_repeat_exactly(draw):
    ax = plt.subplots()[1]
    assert draw(ax=ax) is ax
    first, second = svg(draw().figure), svg(draw().figure)
    assert first == second and b"dc:date" not in first


def test_every_colour_is_legible_on_white():
    for colour in plotting.COLOURS.values():
        parts = np.array(matplotlib.colors.to_rgb(colour))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 2.7, colour
    assert len(set(plotting.COLOURS.values())) == len(plotting.COLOURS) == len(plotting.NAMES)


def test_attention_maps_share_one_scale():
    for weights in (np.full((2, 2), 0.5), np.eye(2)):
        image = plotting.attention_map(weights, ["a", "b"], ["a", "b"]).images[0]
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)
