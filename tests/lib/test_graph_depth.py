"""The longest chain grows with the sentence in a recurrence, and does not in attention."""

import torch

from unrolled.graph_depth import graph_depth
from unrolled.recurrent import RNNParams, rnn_forward
from unrolled.self_attention import MultiHeadAttention


def test_recurrence_waits_and_attention_does_not():
    params, layer = RNNParams(torch.randn(4, 4), torch.randn(4, 4), torch.randn(4)), MultiHeadAttention(4, 2)
    depths = []
    for T in (5, 10, 15):
        x = torch.randn(1, T, 4, requires_grad=True)
        depths.append((graph_depth(rnn_forward(x, torch.zeros(1, 4), params)), graph_depth(layer(x, x)[0])))
    rnn, attention = zip(*depths, strict=True)
    assert rnn[1] - rnn[0] == rnn[2] - rnn[1] >= 5 and len(set(attention)) == 1


def test_a_shared_node_is_counted_once_on_a_path():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    assert graph_depth((y + y).sum()) == 3
