"""Many sources at once give what one source after the other gives; a removed head says nothing and comes back."""

import pytest
import torch
from agreement import assert_close

from unrolled.attention import BilinearScore
from unrolled.beam import beam_search
from unrolled.beam_batch import beam_search_batch, best_words, search_pairs
from unrolled.pruning import heads_of, heads_removed
from unrolled.transformer_model import Transformer
from unrolled.translation import Languages, translate
from unrolled.translators import BOS, EOS, AttentionSeq2Seq, Memory, RecurrentReader

PAIRS = [(list("abc"), [list("xyz")]), (list("ca"), [list("zxxy")]), (list("bbcab"), [list("yx")])]
LANGUAGES = Languages(PAIRS)
SIZES = len(LANGUAGES.source), len(LANGUAGES.target)


def transformer():
    return Transformer(*SIZES, D=8, n_heads=2, layers=2, d_ff=12)


def recurrent():
    reader = RecurrentReader(SIZES[0], 5, 4)
    return AttentionSeq2Seq(reader, BilinearScore(7, reader.width), SIZES[1], 6, 7)


@pytest.mark.parametrize("build", [transformer, recurrent])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_many_sources_as_one_by_one(build, k, double):
    torch.manual_seed(k)
    model = build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)  # surer, so that hypotheses differ in length
        src, lengths, _ = LANGUAGES.batch(PAIRS)
        together = beam_search_batch(model, src, lengths, k, max_len=7)
        for n, found in enumerate(together):
            h0, memory = model.start(src[n : n + 1, : lengths[n]], lengths[n : n + 1])

            def step(y, h, memory=memory):
                rows = Memory(memory.h.expand(len(y), -1, -1), memory.mask.expand(len(y), -1))
                return model.step(y, h, rows)

            alone = beam_search(step, h0, BOS, EOS, k, max_len=7)
            assert [hyp.tokens for hyp in found] == [hyp.tokens for hyp in alone]
            assert_close(torch.tensor([h.logp for h in found]), torch.tensor([h.logp for h in alone]))


def test_a_beam_of_one_translates_greedily():
    torch.manual_seed(0)
    model = transformer()
    said = best_words(search_pairs(model, PAIRS, LANGUAGES, k=1, longest=9), LANGUAGES, alpha=1.0)
    assert said == translate(model, PAIRS, LANGUAGES, longest=9)


def test_a_removed_head_comes_back():
    model, (src, lengths, y) = transformer(), LANGUAGES.batch(PAIRS)
    before, heads = model(src, lengths, y), heads_of(model)
    assert len(heads) == 2 * 2 * 3  # two heads, two layers, three kinds of attention
    for head in heads:
        with heads_removed(model, [head]):
            assert not torch.allclose(model(src, lengths, y), before)
        assert torch.equal(model(src, lengths, y), before)


def test_removed_heads_come_back_after_an_error():
    model = transformer()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(RuntimeError), heads_removed(model, heads_of(model)):
        raise RuntimeError
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
