"""The library against torch's own modules: forward and backward, or a whole step of training, at three sizes."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from charts import ratios
from harness import Case, in_turns, row
from peers import AdditiveDecoder, Padded, TorchBert, TorchGPT, TorchTransformer
from torch import Tensor, nn

from unrolled import deep
from unrolled.attention import AdditiveScore
from unrolled.bert_model import BertForPretraining
from unrolled.fast import deep as fast_deep
from unrolled.fast import speed_up
from unrolled.fast.layers import multi_head_attention
from unrolled.gated import GRU, LSTM, GRUParams, LSTMParams
from unrolled.gpt import GPTConfig
from unrolled.gpt_model import GPT
from unrolled.masks import causal_mask
from unrolled.recurrent import RNN, RNNParams
from unrolled.self_attention import MultiHeadAttention
from unrolled.transformer_model import DecoderLayer, EncoderLayer, Transformer
from unrolled.translators import AttentionSeq2Seq, Memory

TITLE = "The library against torch's own modules"
TEXT = """Forward and backward; for GPT and BERT a whole step of training with AdamW. Every network is measured three
times in one run, in turns: as the **lesson** builds it, on the **fast path** (`unrolled.fast.speed_up`), and as torch's
own module with as many weights. The goal is at most 1.15 times torch's time at the medium and the large size; small
networks have no goal, because there almost all of the time goes into calling functions. Bahdanau's attention is no
module of torch; its peer is a decoder written as d2l's book describes it."""
GOAL = 1.15
SIZES = ("small", "medium", "large")
RECURRENT = {"small": (16, 32, 32), "medium": (32, 64, 128), "large": (64, 64, 256)}  # B, T, E = H
ATTENTION = {"small": (8, 32, 64, 4), "medium": (16, 64, 128, 4), "large": (16, 128, 256, 8)}  # B, T, D, N
VOCABULARY = {"small": 200, "medium": 2000, "large": 8000}
MODULES = {"RNN": (RNN, nn.RNN), "LSTM": (LSTM, nn.LSTM), "GRU": (GRU, nn.GRU)}
STEP = "a step costs a few calls of torch from Python, and "
WHY_LESSON = {
    "RNN": STEP
    + "the lesson's step is the exercise: it projects its input itself, in every step, its bias added apart",
    "LSTM": STEP + "the lesson's step is the exercise: it projects its input itself and treats each gate by itself",
    "GRU": STEP + "the lesson's step is the exercise: three products with the old state where one would do",
    "attention": "the lesson writes queries, keys and values as three products, each with its bias added apart, "
    "keeps the weights, and writes softmax and norm as equations: more passes over memory",
}
WHY_FAST = {
    "LSTM": "torch's LSTM is one call of oneDNN; at the medium size our matrix products alone, by torch.mm, take 0.94 "
    "times as long as torch's whole LSTM (1.0 on a busy machine), and each step adds a dozen small calls from Python",
    "RNN": "the calls from Python at each step are a larger share where the matrices are small",
    "GRU": "the calls from Python at each step are a larger share where the matrices are small",
    "attention": "the weights of queries, keys and values are put together anew in each call",
}


def cases() -> list[Case]:
    makers = {
        **{f"{kind}, one layer": (recurrent, kind, 1) for kind in MODULES},
        **{f"{kind}, two layers": (recurrent, kind, 2) for kind in MODULES},
        **{f"{kind}, both directions, padded": (both_directions, kind) for kind in MODULES},
        "Bahdanau attention": (bahdanau,),
        "multi-head attention": (attention,),
        "encoder block": (encoder_block,),
        "decoder block": (decoder_block,),
        "Transformer": (transformer,),
        "GPT step": (gpt_step,),
        "BERT step": (bert_step,),
    }
    return [
        Case(
            f"{name}, {size}", lambda name=name, make=make, more=more, size=size: compare(name, size, make(size, *more))
        )
        for name, (make, *more) in makers.items()
        for size in SIZES
    ]


def figures(rows: list[dict]) -> list[tuple]:
    worst = max(rows, key=lambda one: one["ratio"])
    said = f"the highest is {worst['ratio']:.2f}, {worst['name']}"
    return [
        (
            "ratios",
            f"For every network two dots at each size, lesson and fast path, torch being 1; {said}.",
            ratios(rows),
        )
    ]


def compare(name: str, size: str, ways: dict[str, Callable[[], object]]) -> list[dict]:
    """Two rows, lesson and fast path, against one peer."""
    found = in_turns(ways)
    goal, kind = (
        None if size == "small" else GOAL,
        name[:4].strip(",") if name[:3] in ("RNN", "LST", "GRU") else "attention",
    )
    why = {"lesson": WHY_LESSON[kind], "fast path": WHY_FAST[kind]}
    return [
        row(f"{name}, {size}, {way}", found[way], found["torch"], goal, "ms", why=why[way], part=way)
        for way in ("lesson", "fast path")
    ]


def backward(forward: Callable[[], Tensor], modules: list[nn.Module], *inputs: Tensor) -> Callable[[], None]:
    """Forward, and backward of the sum, to fresh gradients."""
    tensors = [*inputs, *(p for module in modules for p in module.parameters())]

    def run() -> None:
        for tensor in tensors:
            tensor.grad = None
        forward().sum().backward()

    return run


def recurrent(size: str, kind: str, layers: int) -> dict:
    B, T, H = RECURRENT[size]
    ours, theirs = MODULES[kind]
    x, options = torch.randn(B, T, H, requires_grad=True), ("after",) if kind == "GRU" else ()
    lesson, peer = nn.Sequential(*(ours(H, H, *options) for _ in range(layers))), theirs(H, H, layers, batch_first=True)
    fast = speed_up(nn.Sequential(*(ours(H, H, *options) for _ in range(layers))))
    return {
        "lesson": backward(lambda: lesson(x), [lesson], x),
        "fast path": backward(lambda: fast(x), [fast], x),
        "torch": backward(lambda: peer(x)[0], [peer], x),
    }


def both_directions(size: str, kind: str) -> dict:
    """Rows between half and all of T long. Chapter 5 writes it for the RNN; for LSTM and GRU it is done alike."""
    B, T, H = RECURRENT[size]
    ours, theirs = MODULES[kind]
    options = ("after",) if kind == "GRU" else ()
    x, lengths = torch.randn(B, T, H, requires_grad=True), torch.randint(T // 2, T + 1, (B,))
    both, peer = (
        nn.ModuleList(ours(H, H, *options) for _ in range(2)),
        Padded(theirs(H, H, bidirectional=True, batch_first=True)),
    )
    f, b = (params_of(layer) for layer in both)

    def lesson() -> Tensor:
        if kind == "RNN":
            return deep.birnn(x, lengths, f, b)
        t, n, row_ = torch.arange(T), lengths[:, None], torch.arange(B)[:, None]
        turned = torch.where(t < n, n - 1 - t, t)
        states = torch.cat([both[0](x), both[1](x[row_, turned])[row_, turned]], dim=-1)
        return states.masked_fill(~(t < n)[..., None], 0)

    return {
        "lesson": backward(lesson, [both], x),
        "fast path": backward(lambda: fast_deep.birnn(x, lengths, f, b, "after"), [both], x),
        "torch": backward(lambda: peer(x, lengths), [peer], x),
    }


def params_of(layer: RNN | LSTM | GRU) -> RNNParams | LSTMParams | GRUParams:
    kind = {RNN: RNNParams, LSTM: LSTMParams, GRU: GRUParams}[type(layer)]
    return kind(*layer.parameters())


def bahdanau(size: str) -> dict:
    B, T, H = RECURRENT[size]
    B, V = B // 2, VOCABULARY["small"]
    states, s, y_in = torch.randn(B, T, H, requires_grad=True), torch.zeros(B, H), torch.randint(V, (B, T // 2))
    lengths = torch.randint(T // 2, T + 1, (B,))
    memory = Memory(states, torch.arange(T) < lengths[:, None])

    def ours() -> AttentionSeq2Seq:
        reader = nn.Identity()
        reader.width = H
        return AttentionSeq2Seq(reader, AdditiveScore(H, H, H), V, H, H)

    lesson, fast, peer = ours(), speed_up(ours()), AdditiveDecoder(V, H, H, H, H)
    return {
        "lesson": backward(lambda: lesson.write(y_in, s, memory)[0], [lesson], states),
        "fast path": backward(lambda: fast.write(y_in, s, memory)[0], [fast], states),
        "torch": backward(lambda: peer(y_in, s, states, lengths), [peer], states),
    }


def attention(size: str) -> dict:
    B, T, D, N = ATTENTION[size]
    x, layer, peer = (
        torch.randn(B, T, D, requires_grad=True),
        MultiHeadAttention(D, N),
        nn.MultiheadAttention(D, N, batch_first=True),
    )
    return {
        "lesson": backward(lambda: layer(x, x)[0], [layer], x),
        "fast path": backward(lambda: multi_head_attention(x, x, layer.params, N), [layer], x),
        "torch": backward(lambda: peer(x, x, x, need_weights=False)[0], [peer], x),
    }


def encoder_block(size: str) -> dict:
    B, T, D, N = ATTENTION[size]
    x, real = torch.randn(B, T, D, requires_grad=True), torch.arange(T) < torch.randint(T // 2, T + 1, (B, 1))
    lesson, fast = EncoderLayer(D, N, 4 * D), speed_up(EncoderLayer(D, N, 4 * D))
    peer = nn.TransformerEncoderLayer(D, N, 4 * D, dropout=0.0, batch_first=True, norm_first=True)
    return {
        "lesson": backward(lambda: lesson(x, real[:, None, None, :])[0], [lesson], x),
        "fast path": backward(lambda: fast(x, real[:, None, None, :])[0], [fast], x),
        "torch": backward(lambda: peer(x, src_key_padding_mask=~real), [peer], x),
    }


def decoder_block(size: str) -> dict:
    B, T, D, N = ATTENTION[size]
    y, memory = (torch.randn(B, T, D, requires_grad=True) for _ in range(2))
    real, causal = torch.arange(T) < torch.randint(T // 2, T + 1, (B, 1)), causal_mask(T)
    lesson, fast = DecoderLayer(D, N, 4 * D), speed_up(DecoderLayer(D, N, 4 * D))
    peer = nn.TransformerDecoderLayer(D, N, 4 * D, dropout=0.0, batch_first=True, norm_first=True)
    masks = causal, real[:, None, None, :]
    return {
        "lesson": backward(lambda: lesson(y, memory, *masks)[0], [lesson], y, memory),
        "fast path": backward(lambda: fast(y, memory, *masks)[0], [fast], y, memory),
        "torch": backward(
            lambda: peer(y, memory, tgt_mask=~causal, memory_key_padding_mask=~real, tgt_is_causal=True),
            [peer],
            y,
            memory,
        ),
    }


def transformer(size: str) -> dict:
    B, T, D, N = ATTENTION[size]
    T, V = T // 2, VOCABULARY[size]
    lengths = torch.randint(T // 2, T + 1, (B,))
    src, y_in = (torch.randint(4, V, (B, T)) for _ in range(2))
    src[torch.arange(T) >= lengths[:, None]] = 0
    sizes = {"D": D, "n_heads": N, "layers": 2, "d_ff": 4 * D, "longest": T}
    lesson, fast, peer = Transformer(V, V, **sizes), speed_up(Transformer(V, V, **sizes)), TorchTransformer(V, **sizes)

    def surprise(scores: Tensor) -> Tensor:
        return F.cross_entropy(scores.flatten(0, 1), y_in.flatten())

    return {
        "lesson": backward(lambda: surprise(lesson(src, lengths, y_in)), [lesson]),
        "fast path": backward(lambda: surprise(fast(src, lengths, y_in)), [fast]),
        "torch": backward(lambda: surprise(peer(src, y_in)), [peer]),
    }


def training_step(model: nn.Module, loss: Callable[[nn.Module], Tensor]) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def run() -> None:
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()

    return run


def gpt_step(size: str) -> dict:
    B, T, D, N = ATTENTION[size]
    B, cfg = B // 2, GPTConfig(V=VOCABULARY[size], context=T, D=D, n_heads=N, layers=2, d_ff=4 * D)
    x, y = (torch.randint(cfg.V, (B, T)) for _ in range(2))
    models = {"lesson": GPT(cfg), "fast path": speed_up(GPT(cfg)), "torch": TorchGPT(cfg)}
    return {
        way: training_step(model, lambda m: F.cross_entropy(m(x).flatten(0, 1), y.flatten()))
        for way, model in models.items()
    }


def bert_step(size: str) -> dict:
    B, T, D, N = ATTENTION[size]
    B, V = B // 2, VOCABULARY[size]
    sizes = {"D": D, "n_heads": N, "layers": 2, "d_ff": 4 * D, "longest": T}
    ids, words, segments = torch.randint(V, (B, T)), torch.randint(V, (B, T)), torch.randint(2, (B, T))
    follows, real = torch.randint(2, (B,)), torch.arange(T) < torch.randint(T // 2, T + 1, (B, 1))

    def loss(model: nn.Module) -> Tensor:
        scores, next_one = model(ids, segments, real)
        return F.cross_entropy(scores.flatten(0, 1), words.flatten()) + F.cross_entropy(next_one, follows)

    def ours() -> BertForPretraining:
        return BertForPretraining(V, **sizes, dropout=0.0)

    models = {"lesson": ours(), "fast path": speed_up(ours()), "torch": TorchBert(V, **sizes)}
    return {way: training_step(model, loss) for way, model in models.items()}
