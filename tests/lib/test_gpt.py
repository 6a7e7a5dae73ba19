"""GPT: windows of a text, the block against torch's layers, writing with and without a cache, sizes, triples."""

import math

import pytest
import torch
from agreement import assert_close, assert_same_gradients
from torch import nn

from unrolled.gpt import GPTConfig, count_parameters, generate, gpt_block, windows
from unrolled.gpt_model import GPT
from unrolled.masks import causal_mask
from unrolled.self_attention import AttentionParams
from unrolled.transformer import EncoderLayerParams, FeedForwardParams, NormParams
from unrolled.triples import triple_batch, triple_example

pytestmark = pytest.mark.usefixtures("double")
B, T, D, D_FF, HEADS = 2, 7, 15, 11, 5
CONFIG = GPTConfig(V=13, context=9, D=12, n_heads=3, layers=2, d_ff=17)


def random_gpt(cfg: GPTConfig = CONFIG, **options) -> GPT:
    """A model whose parameters are large enough to show, in double precision."""
    model = GPT(cfg, **options).double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model


# ---- windows ----


@pytest.mark.parametrize("stride", [1, 3, 5, 8])
def test_windows_are_all_that_fit_and_the_parts_do_not_touch(stride):
    N, split, T = 41, 23, 5
    ids = torch.randperm(N)
    for part, (first, end) in zip(windows(ids, T, stride, split), ((0, split), (split, N)), strict=True):
        expected = [s for s in range(N) if s >= first and (s - first) % stride == 0 and s + T + 1 <= end]
        assert part.start.tolist() == expected
        for x, y, s in zip(part.x, part.y, part.start.tolist(), strict=True):
            assert torch.equal(x, ids[s : s + T]) and torch.equal(y, ids[s + 1 : s + T + 1])


# ---- gpt_block ----


def torch_block() -> tuple[nn.TransformerEncoderLayer, EncoderLayerParams]:
    """torch's encoder layer with GELU and the norms before, and its parameters in our form."""
    module = nn.TransformerEncoderLayer(D, HEADS, D_FF, 0.0, "gelu", batch_first=True, norm_first=True)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=1 / math.sqrt(parameter.shape[-1]))
    own = module.self_attn
    attention = *own.in_proj_weight.chunk(3), own.out_proj.weight, *own.in_proj_bias.chunk(3), own.out_proj.bias
    network = module.linear1.weight, module.linear1.bias, module.linear2.weight, module.linear2.bias
    norms = [NormParams(norm.weight, norm.bias) for norm in (module.norm1, module.norm2)]
    return module, EncoderLayerParams(AttentionParams(*attention), FeedForwardParams(*network), *norms)


def test_gpt_block_equals_torch():
    module, params = torch_block()
    x = torch.randn(B, T, D, requires_grad=True)
    ours, weights = gpt_block(x, params, HEADS)
    theirs = module(x, src_mask=~causal_mask(T))  # True means may not, there
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [x, *module.parameters()])
    assert_close(weights, weights.tril())
    assert_close(weights.sum(dim=-1), torch.ones(B, HEADS, T))


def test_gpt_block_without_its_additions_is_the_identity():
    x = torch.randn(B, T, D)
    assert torch.equal(gpt_block(x, torch_block()[1], HEADS, drop=torch.zeros_like)[0], x)


# ---- the model ----


def test_model_reads_in_pieces_what_it_reads_at_once():
    model, ids = random_gpt(), torch.randint(CONFIG.V, (B, 9))
    whole, past, pieces = model(ids), None, []
    for first, end in ((0, 4), (4, 5), (5, 9)):
        logits, kv = model.read(ids[:, first:end], torch.arange(first, end), past)
        past = kv if past is None else torch.cat([past, kv], dim=1)
        pieces.append(logits)
    assert_close(torch.cat(pieces, dim=1), whole.detach())
    assert past.shape == (B, 9, 2 * CONFIG.layers * CONFIG.D)


@pytest.mark.parametrize("length, n", [(1, 6), (4, 5), (4, 20), (15, 4)])
def test_the_cache_changes_no_token(length, n):
    model, ids = random_gpt(), torch.randint(CONFIG.V, (B, length))
    plain = generate(model.read, ids, n, CONFIG.context, cache=False)
    assert torch.equal(generate(model.read, ids, n, CONFIG.context, cache=True), plain)
    assert plain.shape == (B, length + n) and torch.equal(plain[:, :length], ids)
    for t in range(length, length + n):  # and each is what the model says of what stands before it
        assert torch.equal(model(plain[:, :t][:, -CONFIG.context :])[:, -1].argmax(-1), plain[:, t])


def test_drawn_tokens_are_the_same_with_and_without_the_cache():
    model, ids = random_gpt(), torch.randint(CONFIG.V, (B, 3))

    def drawn(cache: bool) -> torch.Tensor:
        rng = torch.Generator().manual_seed(3)
        return generate(
            model.read,
            ids,
            12,
            CONFIG.context,
            cache,
            lambda o: torch.multinomial(o.softmax(-1), 1, generator=rng)[:, 0],
        )

    assert torch.equal(drawn(True), drawn(False))


def test_a_position_beyond_the_context_is_refused():
    with pytest.raises(ValueError, match="no position 9"):
        random_gpt()(torch.zeros(1, 10, dtype=torch.long))


@pytest.mark.parametrize("cfg", [CONFIG, GPTConfig(50, 20, 24, 4, 3, 96), GPTConfig(7, 5, 6, 1, 1, 5)])
def test_count_parameters_counts_the_model(cfg):
    assert count_parameters(cfg) == sum(parameter.numel() for parameter in GPT(cfg).parameters())


def test_the_four_published_sizes_of_gpt2():
    sizes = (768, 12, 12), (1024, 16, 24), (1280, 20, 36), (1600, 25, 48)
    counts = [count_parameters(GPTConfig(50257, 1024, D, N, L, 4 * D)) for D, N, L in sizes]
    assert counts == [124_439_808, 354_823_168, 774_030_080, 1_557_611_200]


def test_the_start_is_that_of_gpt2():
    torch.manual_seed(0)
    model = GPT(GPTConfig(V=500, context=64, D=192, n_heads=4, layers=8, d_ff=512))
    for weight in (model.tokens, *(w for b in model.blocks for w in (b.attention.q.weight, b.wide.weight))):
        assert abs(weight.std() - 0.04) < 1e-3  # 0.02 at four times the width
    for block in model.blocks:
        assert abs(block.back.weight.std() - 0.01) < 4e-4 and abs(block.attention.o.weight.std() - 0.01) < 4e-4
        assert (block.back.bias == 0).all()
    ids = torch.randint(500, (8, 64))
    loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    assert abs(loss.item() - math.log(500)) < 0.2  # nothing is known, and little is believed


def test_dropout_in_training_only():
    model, ids = random_gpt(dropout=0.5), torch.randint(CONFIG.V, (B, 5))
    assert not torch.equal(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


def test_a_tiny_gpt_learns_a_text_by_heart():
    torch.manual_seed(0)
    model = GPT(GPTConfig(V=7, context=12, D=24, n_heads=3, layers=2, d_ff=48))
    text = torch.tensor([[0, 3, 1, 4, 1, 5, 2, 6, 5, 3, 5, 2, 0]])
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        loss = nn.functional.cross_entropy(model(text[:, :-1])[0], text[0, 1:])
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert loss < 0.05
    assert torch.equal(generate(model.read, text[:, :1], 11, 12), text[:, :12])


# ---- triples ----


def test_the_loss_of_a_batch_of_triples_counts_objects_and_ends_only():
    parts = [([4, 5], [9], [6, 7, 8]), ([4], [9, 9], [6]), ([5, 4, 4], [8], [9, 9])]
    examples = [triple_example(s, r, o, eos=0) for s, r, o in parts]
    ids, mask = triple_batch(examples, pad=1)
    assert ids.shape == (3, 7) and mask.shape == (3, 6) and mask.dtype == torch.bool
    said = [ids[row, 1:][mask[row]].tolist() for row in range(3)]
    assert said == [[*o, 0] for _, _, o in parts]
