"""The query after the step: the same step by step as at once, and it has read one token more than the other one."""

import torch
from agreement import assert_close

from unrolled.attention import BilinearScore
from unrolled.late_query import LateQuerySeq2Seq
from unrolled.translators import AttentionSeq2Seq, RecurrentReader, generate


def build(kind: type) -> AttentionSeq2Seq:
    torch.manual_seed(0)
    reader = RecurrentReader(9, 5, 3)
    return kind(reader, BilinearScore(7, reader.width), V=11, E=4, H=7).double()


SRC, LENGTHS = torch.tensor([[4, 5, 6, 7], [8, 3, 0, 0]]), torch.tensor([4, 2])


def test_step_by_step_equals_all_at_once():
    model, y_in = build(LateQuerySeq2Seq), torch.tensor([[2, 5, 9], [2, 4, 6]])
    at_once = model(SRC, LENGTHS, y_in)
    s, memory = model.start(SRC, LENGTHS)
    for t in range(3):
        scores, s = model.step(y_in[:, t], s, memory)
        assert_close(scores, at_once[:, t], atol=1e-9)
    assert len(generate(model, SRC, LENGTHS, 5)) == 2


def test_which_tokens_a_query_has_read():
    """Another last token moves the weights of its own step only if the query comes after the step."""
    for kind, moved in ((LateQuerySeq2Seq, True), (AttentionSeq2Seq, False)):
        model = build(kind)
        one = model.look(SRC, LENGTHS, torch.tensor([[2, 5], [2, 4]]))
        other = model.look(SRC, LENGTHS, torch.tensor([[2, 6], [2, 7]]))
        assert_close(one[:, 0], other[:, 0], atol=1e-12)
        assert torch.allclose(one[:, 1], other[:, 1], atol=1e-12) is not moved
        assert (one[1, :, 2:] == 0).all()  # pads
