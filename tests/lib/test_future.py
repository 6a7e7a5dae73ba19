"""A model from the left gives the same surprise with and without the future; one that looks ahead does not."""

import pytest
import torch

from unrolled.attention_bugs import ATTENTIONS
from unrolled.attention_model import AttentionModel
from unrolled.future import surprise_beside_future

LOOKS_AHEAD = {"mask after softmax", "softmax over queries", "mask off by one", "mask upside down"}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_who_looks_ahead(name):
    torch.manual_seed(0)
    model = AttentionModel(V=9, T=12, D=8, n_heads=2, attention=ATTENTIONS[name]).double()
    documents = torch.randint(1, 9, (5, 12)).tolist()
    there, hidden = surprise_beside_future(model, documents, places=[3, 7], rest=4)
    if name != "heads split by view":  # there the pieces fall otherwise when the length changes
        assert (abs(there - hidden) > 1e-9) is (name in LOOKS_AHEAD)


def test_short_documents_are_left_out():
    model = AttentionModel(V=9, T=12, D=8, n_heads=2)
    long = [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert surprise_beside_future(model, [*long, [1]], [1, 2], 1) == surprise_beside_future(model, long, [1, 2], 1)
