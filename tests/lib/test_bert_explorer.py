"""The tiny BERT of the fill-in-the-blank page: small, and complete: its probabilities follow from its numbers alone."""

import math

import numpy as np

from unrolled.bert_data import agreement_vocabulary
from unrolled.measurements import FOLDER, stored


def test_the_file_is_small_and_knows_the_words():
    assert (FOLDER / "ch12_explorer.json").stat().st_size <= 400_000
    tiny = stored("ch12_explorer")
    assert tiny["words"][2:] == agreement_vocabulary().words[2:]
    assert len(tiny["tests"]) == 3
    assert min(tiny["right"]) > 0.99


def test_probabilities_follow_from_the_stored_numbers():
    """Computed anew without torch, as a page would do it."""
    tiny = stored("ch12_explorer")
    p, D, N = tiny["parameters"], tiny["D"], tiny["n_heads"]

    def norm(x, g, b):
        return np.array(g) * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12) + np.array(b)

    def linear(x, weight, bias):
        return x @ np.array(weight).T + np.array(bias)

    def gelu(x):
        return x * (1 + np.vectorize(math.erf)(x / 2**0.5)) / 2

    def softmax(scores):
        found = np.exp(scores - scores.max(-1, keepdims=True))
        return found / found.sum(-1, keepdims=True)

    for test in tiny["tests"]:
        ids = np.array(test["ids"])
        T = len(ids)
        x = np.array(p["tokens"])[ids] + np.array(p["segments"])[0] + np.array(p["positions"])[:T]
        x = norm(x, **p["norm"])
        for layer, weights in zip(p["layers"], test["weights"], strict=True):
            q, k, v = (linear(x, **layer[name]).reshape(T, N, D // N).transpose(1, 0, 2) for name in "qkv")
            alpha = softmax(q @ k.transpose(0, 2, 1) / (D // N) ** 0.5)
            np.testing.assert_allclose(alpha, weights, atol=1e-5)
            found = linear((alpha @ v).transpose(1, 0, 2).reshape(T, D), **layer["o"])
            a = norm(x + found, **layer["norm_1"])
            x = norm(a + linear(gelu(linear(a, **layer["wide"])), **layer["back"]), **layer["norm_2"])
        x = norm(gelu(linear(x, **p["transform"])), **p["last"])
        scores = x @ np.array(p["tokens"]).T + np.array(p["bias"])
        hidden = test["ids"].index(tiny["special"]["mask"])
        np.testing.assert_allclose(softmax(scores[hidden]), test["probabilities"], atol=2e-6)
