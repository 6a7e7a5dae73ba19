"""Fine-tuning: which weights may move, and how fast (chapter 13)."""

from __future__ import annotations

from torch import nn


def set_trainable(model: nn.Module, policy: str | int, lr: float, lr_head: float) -> list[dict]:
    """Say which parts of a model are trained, and return the groups for its optimiser.

    The encoder ``model.bert`` has the parts ``embedding``, ``layers`` (a list, the first one
    reads the embedding) and ``pooler``. All parameters of the model outside of it are the
    *head*, whatever they are called: they are new, and always trained.

    Args:
        model: a module with a part ``bert`` as above. It may come from an earlier call with
            another policy, and hold gradients of an earlier step.
        policy: "frozen": nothing in bert is trained; "full": everything; a number k, from 1 to
            the number of layers: the last k layers and the pooler, not the embedding.
        lr: the step size of what is trained in bert.
        lr_head: the step size of the head.

    Returns:
        A list of dicts, {"params": [...], "lr": ...}, as torch.optim takes it: together they
        hold each trained parameter once, and no frozen one.

    Afterwards the model is such that
        - ``requires_grad`` is True for what is trained, and False for what is frozen;
        - a frozen parameter has no gradient: its ``grad`` is None. (A stale one would be
          clipped with the others, and moved by an optimiser that still holds it. Gradients of
          trained parameters may stay or go.)
        - modules of a frozen part are in eval mode, so that nothing is dropped there; those of
          a trained part, and of the head, in training mode. (What mode the mere containers
          ``model``, ``bert`` and ``layers`` are in is left open.)
        - no value of a parameter has changed.

    Built in chapter 13.

    >>> model = nn.Module()
    >>> model.bert = nn.Module()
    >>> model.head, model.bert.embedding = nn.Linear(4, 2), nn.Embedding(9, 4)
    >>> model.bert.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
    >>> model.bert.pooler = nn.Linear(4, 4)
    >>> groups = set_trainable(model, 1, lr=1e-5, lr_head=1e-3)
    >>> [(group["lr"], len(group["params"])) for group in groups]
    [(1e-05, 4), (0.001, 2)]
    >>> [layer.weight.requires_grad for layer in model.bert.layers]
    [False, False, True]
    """
    bert = model.bert
    if policy == "frozen":
        frozen = [bert]
    elif policy == "full":
        frozen = []
    else:
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True)
    model.train()
    for part in frozen:
        part.requires_grad_(False)
        part.zero_grad()  # to None
        part.eval()
    inside = {id(p) for p in bert.parameters()}
    trained = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in trained if id(p) in inside], "lr": lr},
        {"params": [p for p in trained if id(p) not in inside], "lr": lr_head},
    ]
