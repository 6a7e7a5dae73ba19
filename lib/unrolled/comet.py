"""COMET: a GPT that has read triples is given a subject and a relation, and writes the object (chapter 11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from unrolled.gpt import generate
from unrolled.gpt_model import GPT
from unrolled.gpt_training import learn_by_steps
from unrolled.knowledge import Triple
from unrolled.tokenization import ByteBPE
from unrolled.triples import triple_batch, triple_example

END = "<end>"


class TripleTokens:
    """Triples as tokens: subject and object in pieces of GPT-2, each relation and the end one token of its own.

    Args:
        relations: their names.
        merges: how many of GPT-2's merges are used, the first ones; a small model needs a small vocabulary.

    >>> tokens = TripleTokens(["is a"], merges=500)
    >>> ids, loss_mask = tokens.example(("jack pine", "is a", "pine"))
    >>> tokens.text.decode(ids), len(tokens)
    (' jack pine<is a> pine<end>', 758)
    """

    def __init__(self, relations: Iterable[str], merges: int):
        self.text = ByteBPE(ByteBPE.gpt2().merges[:merges], (*(f"<{r}>" for r in relations), END))
        self.end = self.text.ids[END]

    def __len__(self) -> int:
        return len(self.text)

    def question(self, s: str, r: str) -> list[int]:
        """The tokens that are given."""
        return [*self.text.encode(" " + s), self.text.ids[f"<{r}>"]]

    def example(self, triple: Triple) -> tuple[Tensor, Tensor]:
        """``triple_example`` of a triple of words."""
        s, r, o = triple
        *subject, relation = self.question(s, r)
        return triple_example(subject, [relation], self.text.encode(" " + o), self.end)


def triple_loss(model: GPT, examples: Sequence[tuple[Tensor, Tensor]], end: int) -> Tensor:
    """-log p in nats of every token of the objects and their ends, one after the other."""
    ids, loss_mask = triple_batch(list(examples), pad=end)
    return F.cross_entropy(model(ids[:, :-1])[loss_mask], ids[:, 1:][loss_mask], reduction="none")


def batches_for_ever(
    examples: list[tuple[Tensor, Tensor]], size: int, seed: int
) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Triples of about the same length, ``size`` at a time, in a new order in each pass: few pads are needed.

    >>> from itertools import islice
    >>> examples = [triple_example([5] * n, [9], [7], 0) for n in (1, 30, 2, 29)]
    >>> [[len(ids) for ids, _ in batch] for batch in islice(batches_for_ever(examples, 2, seed=0), 2)]
    [[32, 33], [5, 4]]
    """
    generator = torch.Generator().manual_seed(seed)
    while True:
        noise = (3 * torch.rand(len(examples), generator=generator)).tolist()
        order = sorted(range(len(examples)), key=lambda i: len(examples[i][0]) + noise[i])
        chunks = [order[k : k + size] for k in range(0, len(order), size)]
        for k in torch.randperm(len(chunks), generator=generator).tolist():
            yield [examples[i] for i in chunks[k]]


def learn_triples(
    model: GPT, examples: list[tuple[Tensor, Tensor]], end: int, steps: int, *, seed: int, size: int = 128, **options
) -> list[float]:
    """``learn_by_steps`` on triples, ``size`` at a time."""
    batches = batches_for_ever(examples, size, seed)
    return learn_by_steps(model, lambda: triple_loss(model, next(batches), end).mean(), steps, **options)


def complete(model: GPT, tokens: TripleTokens, questions: Sequence[tuple[str, str]], longest: int = 12) -> list[str]:
    """The most probable object, piece by piece, for each subject and relation.

    Questions of the same length are answered together. What has not ended after ``longest`` tokens is cut there.
    """
    by_length: dict[int, list[int]] = defaultdict(list)
    prompts = [tokens.question(s, r) for s, r in questions]
    for place, prompt in enumerate(prompts):
        by_length[len(prompt)].append(place)
    said = [""] * len(questions)
    for length, places in by_length.items():
        for group in torch.tensor(places).split(256):
            ids = torch.tensor([prompts[i] for i in group.tolist()])  # (B, length)
            written = generate(model.read, ids, longest, model.cfg.context)[:, length:]  # (B, longest)
            for place, row in zip(group.tolist(), written.tolist(), strict=True):
                end = row.index(tokens.end) if tokens.end in row else longest
                said[place] = tokens.text.decode(row[:end]).strip()
    return said


def most_frequent(triples: Iterable[Triple]) -> dict[str, str]:
    """For each relation the object that it has most often: what one would say without reading the subject.

    >>> most_frequent([("a", "is a", "b"), ("c", "is a", "b"), ("c", "is a", "d")])
    {'is a': 'b'}
    """
    counts: dict[str, Counter] = defaultdict(Counter)
    for _, r, o in triples:
        counts[r][o] += 1
    return {r: counter.most_common(1)[0][0] for r, counter in counts.items()}
