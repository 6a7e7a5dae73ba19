"""The small BERT: pads change nothing, both sides are read, and with ``causal`` only one."""

import pytest
import torch

from unrolled.tiny_bert import TinyBert


def changed(model, at: int) -> torch.Tensor:
    """Which steps' scores change when the word at one step is exchanged."""
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    other = ids.clone()
    other[0, at] = 11
    return (model(ids)[0] - model(other)[0]).abs().amax(dim=-1)[0] > 1e-6


@pytest.mark.parametrize(("causal", "seen"), [(False, [True] * 5), (True, [False, False, True, True, True])])
def test_who_sees_an_exchanged_word(causal, seen):
    torch.manual_seed(0)
    model = TinyBert(V=13, D=12, n_heads=3, layers=2, d_ff=24, longest=9, causal=causal)
    with torch.no_grad():
        assert changed(model, at=2).tolist() == seen


def test_pads_change_nothing():
    torch.manual_seed(0)
    model = TinyBert(V=13, D=12, n_heads=3, layers=2, d_ff=24, longest=9)
    ids, padded = torch.tensor([[2, 7, 8, 3]]), torch.tensor([[2, 7, 8, 3, 0, 0]])
    with torch.no_grad():
        torch.testing.assert_close(model(padded, mask=padded != 0)[0][:, :4], model(ids)[0], rtol=1e-5, atol=1e-6)
