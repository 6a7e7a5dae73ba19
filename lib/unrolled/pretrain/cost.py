"""What a step costs: operations by counting matrix products (chapter 8), memory by counting what is kept.

Nothing is computed here: shapes alone are followed, so a BERT of any size can be asked on any machine.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from unrolled.bert_model import BertForPretraining
from unrolled.flops import flops
from unrolled.masked_words import mlm_loss
from unrolled.pretrain.config import Config
from unrolled.pretrain.loop import network

BYTES = 4  # of a float32
COPIES = {"weights": 1, "gradients": 1, "Adam": 2}  # float32 numbers per parameter


def parameters(config: Config, vocabulary: int) -> int:
    """The trained numbers of the model."""
    with torch.device("meta"):
        return sum(p.numel() for p in network(config, vocabulary).parameters())


def operations(config: Config, vocabulary: int, rows: int, length: int) -> int:
    """The operations of a training step on full rows, by the formula: forward once, backward twice that."""
    D, n = config.model.width, asked(config, rows, length)
    layer = flops("attention+projections", length, D, 0) + 2 * 2 * length * D * config.model.feed_forward
    heads = 2 * n * D * (D + vocabulary) + 2 * rows * D * (D + 2)
    return 3 * (rows * config.model.layers * layer + heads)


def asked(config: Config, rows: int, length: int) -> int:
    """How many words are hidden in so many full rows, about."""
    return round(config.training.mask_rate * rows * length)


def counted_operations(config: Config, vocabulary: int, rows: int, length: int) -> int:
    """The operations of the same step, counted by torch, call by call."""
    plain = sdpa_kernel(SDPBackend.MATH)  # the products one by one; torch does not count its fused kernel
    with FakeTensorMode(), FlopCounterMode(display=False) as counter, plain:
        _loss(config, network(config, vocabulary), vocabulary, rows, length).backward()
    return counter.get_total_flops()


def kept_bytes(config: Config, vocabulary: int, rows: int, length: int) -> int:
    """What the forward pass of a part keeps for the backward pass: every tensor once, weights not counted."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage().nbytes()
        return tensor

    low = torch.autocast("cpu", torch.bfloat16, enabled=config.training.precision == "bfloat16")
    with FakeTensorMode():
        model = network(config, vocabulary)
        with low, torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = _loss(config, model, vocabulary, rows, length)  # it must live: storages are told apart by address
        for parameter in model.parameters():
            kept.pop(parameter.untyped_storage()._cdata, None)
    del loss
    return sum(kept.values())


def _loss(config: Config, model: BertForPretraining, vocabulary: int, rows: int, length: int) -> Tensor:
    """Both losses of full rows, as ``PretrainingLoss`` computes them, but at a number of words known beforehand."""
    ids, n = torch.zeros(rows, length, dtype=torch.long), asked(config, rows, length)
    out = model.bert(ids, ids, torch.ones(rows, length, dtype=torch.bool))
    words = model.word_scores(out.states.flatten(0, 1)[torch.arange(n)])  # (n, V)
    hidden = mlm_loss(words[None], ids.flatten()[None, :n], torch.ones(1, n))
    return hidden + F.cross_entropy(model.follows(out.pooled), ids[:, 0])
