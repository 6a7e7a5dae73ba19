"""What the judge asks about the exercises of chapter 3: counts, windows, probabilities, sampling, word vectors.

Sizes differ and are odd. Where a cut decides (top k, top p, the end of a document) the inputs are made so that the
cut falls in the same place for every seed, and only the values are random.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.probe import gradients, integers, leaf, normal, probe

B, T, V, E, K = 5, 9, 13, 7, 3
SAME = 5  # the one size of the naming probes


# ---- 3.1 bigram_logprobs ----


def _document(rng: torch.Generator, length: int, V: int) -> Tensor:
    """All ids once, then random ones: long enough, it has pairs that occur several times."""
    return torch.cat([torch.randperm(V, generator=rng), integers(rng, 0, V, length - V)])


@probe("bigram_logprobs", "one document")
def bigram_logprobs_one(bigram_logprobs, rng):
    return {"log probabilities": bigram_logprobs([_document(rng, 97, 7)], 7, 0.3)}


@probe("bigram_logprobs", "several documents")
def bigram_logprobs_several(bigram_logprobs, rng):
    docs = [_document(rng, length, 7) for length in (83, 61, 37)]
    return {"log probabilities": bigram_logprobs(docs, 7, 0.7)}


@probe("bigram_logprobs", "documents of one or two ids")
def bigram_logprobs_short(bigram_logprobs, rng):
    firsts, seconds = torch.randperm(7, generator=rng), integers(rng, 0, 7, 7)
    docs = [doc for pair in zip(firsts, seconds, strict=True) for doc in (torch.stack(pair), pair[1][None])]
    return {"log probabilities": bigram_logprobs(docs, 7, 0.3)}


@probe("bigram_logprobs", "ids that occur in no document")
def bigram_logprobs_unseen(bigram_logprobs, rng):
    return {"log probabilities": bigram_logprobs([2 * _document(rng, 67, 5) + 1], 11, 0.3)}


@probe("bigram_logprobs", "hardly any smoothing, and much of it")
def bigram_logprobs_k(bigram_logprobs, rng):
    doc = _document(rng, 97, 7)
    return {f"k = {k}": bigram_logprobs([doc], 7, k) for k in (0.01, 31)}


@probe("bigram_logprobs", "the documents are as they were after the call")
def bigram_logprobs_untouched(bigram_logprobs, rng):
    docs = [_document(rng, 59, 7), _document(rng, 83, 7)]
    return {"log probabilities": bigram_logprobs(docs, 7, 0.5), "documents after the call": tuple(docs)}


@probe("bigram_logprobs", "two ids", weight=0)
def bigram_logprobs_two_ids(bigram_logprobs, rng):
    return {"log probabilities": bigram_logprobs([_document(rng, 31, 2), _document(rng, 41, 2)], 2, 1.0)}


# ---- 3.2 lm_windows ----


def _documents(rng: torch.Generator, *lengths: int) -> list[Tensor]:
    return [torch.randperm(99, generator=rng)[:length] + 1 for length in lengths]  # no id twice in a document


@probe("lm_windows", "the inputs")
def lm_windows_inputs(lm_windows, rng):
    return {"inputs": lm_windows(_documents(rng, 18, 29, 12), 5)[0]}


@probe("lm_windows", "the targets")
def lm_windows_targets(lm_windows, rng):
    return {"targets": lm_windows(_documents(rng, 18, 29, 12), 5)[1]}


@probe("lm_windows", "a document that fills its windows exactly, with the last target")
def lm_windows_exact(lm_windows, rng):
    return {"inputs, targets": tuple(lm_windows(_documents(rng, 22), 7))}


@probe("lm_windows", "a document whose last window lacks its last target")
def lm_windows_no_target(lm_windows, rng):
    return {"inputs, targets": tuple(lm_windows(_documents(rng, 21), 7))}


@probe("lm_windows", "short documents between long ones give nothing")
def lm_windows_short(lm_windows, rng):
    return {"inputs, targets": tuple(lm_windows(_documents(rng, 3, 17, 1, 9, 2), 7))}


@probe("lm_windows", "the documents are as they were after the call")
def lm_windows_untouched(lm_windows, rng):
    docs = _documents(rng, 17, 26)
    return {"inputs, targets": tuple(lm_windows(docs, 7)), "documents after the call": tuple(docs)}


@probe("lm_windows", "windows of two ids", weight=0)
def lm_windows_two(lm_windows, rng):
    return {"inputs, targets": tuple(lm_windows(_documents(rng, 4, 5, 6, 7, 8), 2))}


# ---- 3.3 sequence_logprob ----


@probe("sequence_logprob", "a sequence of nine ids")
def sequence_logprob_values(sequence_logprob, rng):
    return {"log probability": sequence_logprob(2 * normal(rng, T, V), integers(rng, 0, V, T))}


@probe("sequence_logprob", "the start symbol and one id")
def sequence_logprob_two(sequence_logprob, rng):
    logits = normal(rng, 2, V)
    return {"log probability": sequence_logprob(logits, torch.stack([integers(rng, 0, V), logits[0].argmin()]))}


@probe("sequence_logprob", "a sequence so long that its probability is rounded to 0")
def sequence_logprob_long(sequence_logprob, rng):
    return {"log probability": sequence_logprob(2 * normal(rng, 701, V), integers(rng, 0, V, 701))}


@probe("sequence_logprob", "scores so large that exp of them overflows")
def sequence_logprob_large(sequence_logprob, rng):
    return {"log probability": sequence_logprob(10_000 * normal(rng, 33, V), integers(rng, 0, V, 33))}


@probe("sequence_logprob", "gradients reach the scores")
def sequence_logprob_gradients(sequence_logprob, rng):
    logits = leaf(rng, T, V)
    return gradients(rng, sequence_logprob(logits, integers(rng, 0, V, T)), logits=logits)


@probe("sequence_logprob", "scores and ids are as they were after the call")
def sequence_logprob_untouched(sequence_logprob, rng):
    logits, ids = normal(rng, T, V), integers(rng, 0, V, T)
    return {"log probability": sequence_logprob(logits, ids), "logits after": logits, "ids after": ids}


@probe("sequence_logprob", "as many ids as steps, scores above zero", weight=0)
def sequence_logprob_same_sizes(sequence_logprob, rng):
    logits = normal(rng, SAME, SAME).abs() + 1
    return {"log probability": sequence_logprob(logits, torch.randperm(SAME, generator=rng))}


# ---- 3.4 perplexity ----


def _batches(rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Five batches that differ in size and in surprise; the surprise per token lies between 1 and 3 nats."""
    n = torch.tensor([61, 43, 29, 17, 3]) + integers(rng, 0, 7, 5)
    return n * (torch.tensor([1.0, 1.4, 1.8, 2.2, 2.6]) + 0.4 * torch.rand(5, generator=rng)), n


@probe("perplexity", "batches that differ in size")
def perplexity_batches(perplexity, rng):
    return {"perplexity": perplexity(*_batches(rng))}


@probe("perplexity", "a single batch")
def perplexity_one(perplexity, rng):
    nll, n = _batches(rng)
    return {"perplexity": perplexity(nll[:1], n[:1])}


@probe("perplexity", "a corpus of a hundred thousand tokens")
def perplexity_large(perplexity, rng):
    nll, n = _batches(rng)
    return {"perplexity": perplexity(1000 * nll, 1000 * n)}


@probe("perplexity", "the same tokens in other batches")
def perplexity_other_batches(perplexity, rng):
    nll, n = _batches(rng)
    merged = torch.stack([nll[0], nll[1:].sum()]), torch.stack([n[0], n[1:].sum()])
    return {"in five batches": perplexity(nll, n), "in two": perplexity(*merged)}


@probe("perplexity", "a fair choice among 7, in every batch")
def perplexity_fair(perplexity, rng):
    _, n = _batches(rng)
    return {"perplexity": perplexity(n * torch.tensor(7.0).log(), n)}


@probe("perplexity", "batches of one token", weight=0)
def perplexity_single_tokens(perplexity, rng):
    nll, n = _batches(rng)
    return {"perplexity": perplexity(nll / n, torch.ones(5))}


# ---- 3.5 tie ----


class _Model(nn.Module):
    """A language model with random weights; tying finds ``embedding`` and ``output``, and must not lose the rest."""

    def __init__(self, rng: torch.Generator, V: int = V, H: int = E):
        super().__init__()
        self.output, self.memory = nn.Linear(H, V), nn.GRU(H, H, batch_first=True)
        self.norm, self.embedding = nn.LayerNorm(H), nn.Embedding(V, H)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(0.5 * normal(rng, *parameter.shape))

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.norm(self.memory(self.embedding(ids))[0]))


def _step(parameters: list[Tensor], rule=lambda grad: grad) -> None:
    """One step of an optimizer: every tensor that it was given moves by what the rule makes of its gradient."""
    with torch.no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter -= rule(parameter.grad)


def _levelled(grad: Tensor) -> Tensor:
    """A step of nearly the same size for all but tiny gradients, as Adam's are."""
    return 0.1 * torch.tanh(50 * grad)


def _after_steps(rng: torch.Generator, model: nn.Module, parameters: list[Tensor], rule) -> Tensor:
    """The scores of a model after three steps towards random targets."""
    ids, targets = integers(rng, 0, V, B, T), integers(rng, 0, V, B * T)
    for _ in range(3):
        model.zero_grad()
        nn.functional.cross_entropy(model(ids).flatten(0, 1), targets).backward()
        _step(parameters, rule)
    return model(ids)


@probe("tie", "the parameters to be trained, each of them once")
def tie_parameters(tie, rng):
    trained = sorted(tie(_Model(rng)), key=lambda tensor: (tensor.numel(), tensor.flatten()[0].item()))
    return {"number of tensors": len(trained), "parameters, by size": tuple(trained)}


@probe("tie", "the scores before training and after a few steps of gradient descent")
def tie_descent(tie, rng):
    model = _Model(rng)
    parameters = list(tie(model))
    scores = model(integers(rng, 0, V, B, T))
    return {"before": scores, "after three steps": _after_steps(rng, model, parameters, lambda grad: 0.5 * grad)}


@probe("tie", "the scores after a few steps of equal size, as Adam takes them")
def tie_levelled(tie, rng):
    model = _Model(rng)
    return {"after three steps": _after_steps(rng, model, list(tie(model)), _levelled)}


@probe("tie", "a step that only the embedding asks for moves the output's matrix")
def tie_from_embedding(tie, rng):
    model = _Model(rng)
    parameters = list(tie(model))
    (model.embedding(integers(rng, 0, V, B)) * normal(rng, B, E)).sum().backward()
    _step(parameters)
    return {"output.weight after the step": model.output.weight}


@probe("tie", "a step that only the output asks for moves the embedding")
def tie_from_output(tie, rng):
    model = _Model(rng)
    parameters = list(tie(model))
    (model.output(normal(rng, B, E)) * normal(rng, B, V)).sum().backward()
    _step(parameters)
    return {"embedding.weight after the step": model.embedding.weight}


@probe("tie", "states as wide as the vocabulary", weight=0)
def tie_same_sizes(tie, rng):
    model = _Model(rng, SAME, SAME)
    count = len(list(tie(model)))
    return {"scores": model(integers(rng, 0, SAME, B, T)), "number of parameters": count}


# ---- 3.6 next_token_probs ----

FALLING = (0.31, 0.23, 0.17, 0.11, 0.07, 0.05, 0.03, 0.02, 0.01)  # partial sums .31 .54 .71 .82 .89 .94 .97 .99


def _scores(rng: torch.Generator) -> Tensor:
    """Scores whose softmax is about FALLING in a random order, the likeliest id last."""
    noisy = torch.tensor(FALLING).log() + 0.02 * torch.rand(9, generator=rng) + 3
    return noisy[torch.cat([torch.randperm(8, generator=rng) + 1, torch.tensor([0])])]


@probe("next_token_probs", "the temperature")
def next_token_probs_temperature(next_token_probs, rng):
    logits = normal(rng, V)
    return {f"temperature {tau}": next_token_probs(logits, tau) for tau in (0.6, 1.0, 1.7)}


@probe("next_token_probs", "top k")
def next_token_probs_top_k(next_token_probs, rng):
    logits = _scores(rng)
    return {f"top_k = {k}": next_token_probs(logits, top_k=k) for k in (3, 6)}


@probe("next_token_probs", "top p")
def next_token_probs_top_p(next_token_probs, rng):
    logits = _scores(rng)
    return {f"top_p = {p}": next_token_probs(logits, top_p=p) for p in (0.63, 0.86)}


@probe("next_token_probs", "top k, then top p on what is left")
def next_token_probs_both(next_token_probs, rng):
    return {"probabilities": next_token_probs(_scores(rng), top_k=5, top_p=0.755)}


@probe("next_token_probs", "temperature, top k and top p together")
def next_token_probs_together(next_token_probs, rng):
    return {"probabilities": next_token_probs(_scores(rng), temperature=2.0, top_k=7, top_p=0.7)}


@probe("next_token_probs", "scores so large that exp of them overflows; they are as they were after the call")
def next_token_probs_large(next_token_probs, rng):
    logits = _scores(rng) + 2000
    probs = next_token_probs(logits, temperature=1.5, top_k=7, top_p=0.9)
    return {"probabilities": probs, "logits after the call": logits}


@probe("next_token_probs", "a single id is left", weight=0)
def next_token_probs_single(next_token_probs, rng):
    logits = _scores(rng)
    return {"top k": next_token_probs(logits, top_k=1), "top p": next_token_probs(logits, 0.5, None, 0.2)}


# ---- 3.7 sample_sequence ----

EDGES = (0.0, 0.25, 0.0, 0.5, 0.0, 0.125, 0.125)  # sums are exact in binary: 0, 1/4, 1/4, 3/4, 3/4, 7/8, 1


def _stepper(rng: torch.Generator, fed: list[int], ids: float = 1.0, states: float = 1.0):
    """A random recurrent step that notes which ids it was fed; the scales say how much ids and states matter."""
    table, W, U, b = 2 * ids * normal(rng, 7, 11), normal(rng, 11, 11), 0.7 * normal(rng, 7, 11), normal(rng, 11)

    def step(w, h):
        fed.append(int(w))
        h = torch.sin(states * (h @ W) + table[int(w)] + b)
        return torch.softmax(U @ h, dim=0), h

    return step, normal(rng, 11)


@probe("sample_sequence", "twenty-nine ids in a row")
def sample_sequence_row(sample_sequence, rng):
    step, h = _stepper(rng, [])
    return {"ids": sample_sequence(step, h, 3, 29, torch.rand(29, generator=rng))}


@probe("sample_sequence", "single draws with many u")
def sample_sequence_single(sample_sequence, rng):
    step, h = _stepper(rng, [])
    u = torch.rand(41, generator=rng)
    return {"ids": torch.cat([torch.as_tensor(sample_sequence(step, h, 3, 1, u[t : t + 1])) for t in range(41)])}


@probe("sample_sequence", "u on the very edge between two ids; what has probability 0 is never drawn")
def sample_sequence_edges(sample_sequence, rng):
    u = torch.arange(8)[torch.randperm(8, generator=rng)] / 8
    return {"ids": sample_sequence(lambda w, h: (torch.tensor(EDGES), h), normal(rng, 1), 2, 8, u)}


@probe("sample_sequence", "a step that looks at the id alone")
def sample_sequence_ids(sample_sequence, rng):
    step, h = _stepper(rng, [], states=0)
    return {"ids": sample_sequence(step, h, 3, 29, torch.rand(29, generator=rng))}


@probe("sample_sequence", "a step that looks at the state alone, which is a pair")
def sample_sequence_pair(sample_sequence, rng):
    inner, h = _stepper(rng, [], ids=0)

    def step(w, state):
        probs, h = inner(w, state[0])
        return probs, (h, state[1] + 1)

    return {"ids": sample_sequence(step, (h, 0), 3, 29, torch.rand(29, generator=rng))}


@probe("sample_sequence", "what the step was fed", weight=0)
def sample_sequence_fed(sample_sequence, rng):
    fed = []
    step, h = _stepper(rng, fed)
    ids = sample_sequence(step, h, 3, 17, torch.rand(17, generator=rng))
    return {"ids": ids, "fed": fed[:17]}


# ---- 3.8 sgns_loss ----


def _pairs(rng: torch.Generator, B: int = B, K: int = K, V: int = V, E: int = E) -> list[Tensor]:
    """Centres, neighbours, random words, no id twice in a row of the batch; and two leaves: the vectors."""
    ids = torch.stack([torch.randperm(V, generator=rng)[: K + 2] for _ in range(B)])
    return [ids[:, 0], ids[:, 1], ids[:, 2:], leaf(rng, V, E), leaf(rng, V, E)]


def _scaled(rng: torch.Generator, scale: float) -> list[Tensor]:
    """So many pairs that some scores are large, and on the wrong side."""
    c, o, neg, E_in, E_out = _pairs(rng, B=101)
    return [c, o, neg, (scale * E_in).detach().requires_grad_(), (scale * E_out).detach().requires_grad_()]


@probe("sgns_loss", "the loss of a batch")
def sgns_loss_values(sgns_loss, rng):
    return {"loss": sgns_loss(*_pairs(rng))}


@probe("sgns_loss", "one pair and one random word")
def sgns_loss_one(sgns_loss, rng):
    return {"loss": sgns_loss(*_pairs(rng, B=1, K=1))}


@probe("sgns_loss", "one pair and many random words")
def sgns_loss_many(sgns_loss, rng):
    return {"loss": sgns_loss(*_pairs(rng, B=1, K=17, V=23))}


@probe("sgns_loss", "gradients reach both matrices")
def sgns_loss_gradients(sgns_loss, rng):
    pairs = _pairs(rng)
    return gradients(rng, sgns_loss(*pairs), E_in=pairs[3], E_out=pairs[4])


@probe("sgns_loss", "scores so large that the sigmoid is rounded to 0")
def sgns_loss_large(sgns_loss, rng):
    pairs = _scaled(rng, 40)
    return gradients(rng, sgns_loss(*pairs), E_in=pairs[3], E_out=pairs[4])


@probe("sgns_loss", "all arguments are as they were after the call")
def sgns_loss_untouched(sgns_loss, rng):
    pairs = [tensor.detach() for tensor in _pairs(rng, B=3, K=5)]
    return {"loss": sgns_loss(*pairs), "arguments after the call": tuple(pairs)}


@probe("sgns_loss", "as many pairs as random words and as the vectors are long", weight=0)
def sgns_loss_same_sizes(sgns_loss, rng):
    return {"loss": sgns_loss(*_pairs(rng, SAME, SAME, E=SAME))}


@probe("sgns_loss", "scores so large that the sigmoid is rounded to 1", weight=0)
def sgns_loss_rounded(sgns_loss, rng):
    return {"loss": sgns_loss(*_scaled(rng, 5))}
