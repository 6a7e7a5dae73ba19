"""A published checkpoint of BERT under the names of ours (chapter 13)."""

from __future__ import annotations

from torch import Tensor


def map_checkpoint(state: dict[str, Tensor]) -> tuple[dict[str, Tensor], list[str]]:
    """Give the tensors of a published BERT the names of ours, and say which were not used.

    published                                                 ours
    embeddings.word_embeddings.weight                         embedding.tokens
    embeddings.token_type_embeddings.weight                   embedding.segments
    embeddings.position_embeddings.weight                     embedding.positions
    embeddings.LayerNorm.weight, .bias                        embedding.norm.g, .b
    encoder.layer.0.attention.self.query.weight, .bias        layers.0.attention.q.weight, .bias
        the same with key, with value                             with k, with v
    encoder.layer.0.attention.output.dense.weight, .bias      layers.0.attention.o.weight, .bias
    encoder.layer.0.attention.output.LayerNorm.weight, .bias  layers.0.norm_1.g, .b
    encoder.layer.0.intermediate.dense.weight, .bias          layers.0.wide.weight, .bias
    encoder.layer.0.output.dense.weight, .bias                layers.0.back.weight, .bias
    encoder.layer.0.output.LayerNorm.weight, .bias            layers.0.norm_2.g, .b
    pooler.dense.weight, .bias                                pooler.weight, .bias

    and so on for every layer. Two things vary from file to file: all names may begin with
    "bert.", and the norms of old files are called LayerNorm.gamma and LayerNorm.beta, not
    LayerNorm.weight and LayerNorm.bias. Matrices are (out, in) in both: no tensor is changed.

    Args:
        state: name to tensor, in any order, with any number of layers. There may be others, for
            instance the heads of pretraining ("cls.predictions.bias"), or
            "embeddings.position_ids", which only counts 0, 1, 2, ...

    Returns:
        ours: our name to tensor, for every name of the table that is there.
        unused: all other names as they stand in state, sorted. Nothing is left out silently.
        ``state`` is not changed.

    Built in chapter 13.

    >>> import torch
    >>> old = {"bert.encoder.layer.3.output.LayerNorm.gamma": torch.ones(2)}
    >>> map_checkpoint(old | {"cls.predictions.bias": torch.zeros(9)})
    ({'layers.3.norm_2.g': tensor([1., 1.])}, ['cls.predictions.bias'])
    """
    single = {
        "embeddings.word_embeddings.weight": "embedding.tokens",
        "embeddings.token_type_embeddings.weight": "embedding.segments",
        "embeddings.position_embeddings.weight": "embedding.positions",
    }
    parts = {
        "embeddings.LayerNorm": "embedding.norm",
        "attention.self.query": "attention.q",
        "attention.self.key": "attention.k",
        "attention.self.value": "attention.v",
        "attention.output.dense": "attention.o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "wide",
        "output.dense": "back",
        "output.LayerNorm": "norm_2",
        "pooler.dense": "pooler",
    }
    norm_kinds = {"weight": "g", "gamma": "g", "bias": "b", "beta": "b"}
    ours, unused = {}, []
    for name, tensor in state.items():
        part, _, kind = name.removeprefix("bert.").rpartition(".")
        where = ""
        if part.startswith("encoder.layer."):
            number, part = part.removeprefix("encoder.layer.").split(".", 1)
            where = f"layers.{number}."
        if f"{part}.{kind}" in single:
            ours[single[f"{part}.{kind}"]] = tensor
        elif part in parts:
            kind = norm_kinds[kind] if "LayerNorm" in part else kind
            ours[f"{where}{parts[part]}.{kind}"] = tensor
        else:
            unused.append(name)
    return ours, sorted(unused)
