"""What the judge asks about the exercises of chapter 10: search, length, BLEU, rollout, induction.

Searches, rankings and corpora are asked about several times in one probe, each with other random numbers: whether two
hypotheses change places is a matter of luck, whether none of many does is not.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.probe import gradients, integers, normal, probe


def _some(rng: torch.Generator, low: int, high: int) -> int:
    """A random number from low to high, both included."""
    return int(integers(rng, low, high + 1, 1))


# ---- 10.1 beam_search ----


NEVER = 999


def _decoder(rng: torch.Generator, V: int = 6, H: int = 5, ends: float = 0.0, last: int = NEVER) -> tuple:
    """The arguments of beam_search but for k and max_len; the higher ``ends``, the sooner the decoder says EOS.

    From step ``last`` on (from 0) it says nothing else. Column 0 of its state counts the steps; the rest depends on
    all that has been said, and what is said depends on it. It cannot say BOS.
    """
    bos, eos = V, _some(rng, 0, V - 1)
    W_hh, W_e, W_hy = normal(rng, H, H), 2 * normal(rng, V + 1, H), normal(rng, H, V)
    is_eos = torch.arange(V) == eos

    def step(y, h):
        t, state = h[:, :1], torch.tanh(h[:, 1:] @ W_hh + W_e[y])
        more = torch.where(t < last, ends, 40.0) * is_eos  # (n, V)
        return state @ W_hy + more, torch.cat([t + 1, state], dim=1)

    return step, torch.cat([torch.zeros(1, 1), normal(rng, 1, H)], dim=1), bos, eos


def _overtaken(rng: torch.Generator, k: int) -> tuple:
    """As _decoder, but planned: EOS is the last of k good tokens at the first step, and is overtaken at the second.

    Then each token is followed by one of two, until EOS comes at step 4.
    """
    V, H = k + 2, 5
    eos, *others = torch.randperm(V, generator=rng).tolist()
    W_hh, W_e, W_hy = normal(rng, H, H), normal(rng, V + 1, H), normal(rng, H, V)
    plan = torch.full((3, V), 0.01)  # probabilities: the first step, the next ones, the end
    plan[0, others[: k - 1]], plan[0, eos] = 0.9 / (k - 1), 0.3 / k
    plan[1, others[:2]], plan[2, eos] = 0.47, 0.97

    def step(y, h):
        t, state = h[:, :1], torch.tanh(h[:, 1:] @ W_hh + W_e[y])
        phase = (t[:, 0] >= 1).long() + (t[:, 0] >= 4).long()
        return plan[phase].log() + 0.05 * state @ W_hy, torch.cat([t + 1, state], dim=1)

    return step, torch.cat([torch.zeros(1, 1), normal(rng, 1, H)], dim=1), V, eos


def _apart(found) -> dict:
    """Tokens and log-probabilities of a list of pairs; what is no such list is reported as it is."""
    pairs = isinstance(found, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in found)
    if not pairs:
        return {"tokens": found, "logp": None}
    rows = [list(tokens) if isinstance(tokens, (tuple, Tensor)) else tokens for tokens, _ in found]
    return {"tokens": rows, "logp": [logp for _, logp in found]}


def _search(beam_search: Callable, arguments: tuple, k: int, max_len: int, name: str) -> dict:
    return {f"{what}, {name}": value for what, value in _apart(beam_search(*arguments, k, max_len)).items()}


def _searches(beam_search: Callable, rng: torch.Generator, times: int, k: int, max_len: int, **options) -> dict:
    """Several searches, each with a decoder of its own."""
    seen = {}
    for number in range(1, times + 1):
        seen |= _search(beam_search, _decoder(rng, **options), k, max_len, f"decoder {number}")
    return seen


@probe("beam_search", "three beginnings stay; they end at different steps")
def beam_search_three(beam_search, rng):
    seen = _search(beam_search, _overtaken(rng, 3), 3, 7, "planned decoder")
    return seen | _searches(beam_search, rng, times=6, k=3, max_len=7, V=4, ends=0.5, last=5)


@probe("beam_search", "one beginning stays: the search is greedy")
def beam_search_one(beam_search, rng):
    return _searches(beam_search, rng, times=12, k=1, max_len=7, ends=0.5, last=5)


@probe("beam_search", "a beam so wide that nothing is lost finds every sentence there is")
def beam_search_wide(beam_search, rng):
    return _searches(beam_search, rng, times=2, k=50, max_len=4, V=3, H=4)


@probe("beam_search", "some have ended when the others are cut at max_len")
def beam_search_some_cut(beam_search, rng):
    seen = _search(beam_search, _overtaken(rng, 5), 5, 4, "planned decoder")
    return seen | _searches(beam_search, rng, times=6, k=5, max_len=4, ends=0.2)


@probe("beam_search", "no EOS comes: all are cut at max_len")
def beam_search_all_cut(beam_search, rng):
    return _searches(beam_search, rng, times=3, k=4, max_len=5, ends=-25.0)


@probe("beam_search", "one step; there are fewer tokens than places")
def beam_search_one_step(beam_search, rng):
    few = _searches(beam_search, rng, times=2, k=3, max_len=1)
    many = _searches(beam_search, rng, times=5, k=9, max_len=1, V=4)
    return few | {f"{what}, more places than tokens": value for what, value in many.items()}


@probe("beam_search", "the result is right, and h0 is as it was after the call")
def beam_search_untouched(beam_search, rng):
    decoders = [_overtaken(rng, 4), *(_decoder(rng, V=5, H=7, ends=1.0, last=4) for _ in range(4))]
    seen = {}
    for number, (step, h0, bos, eos) in enumerate(decoders):
        seen |= _search(beam_search, (step, h0, bos, eos), 4, 8, f"decoder {number}")
        seen[f"h0 after, decoder {number}"] = h0
    return seen


@probe("beam_search", "as many places as tokens and numbers in a state", weight=0)
def beam_search_same_sizes(beam_search, rng):
    return _searches(beam_search, rng, times=3, k=5, max_len=5, V=5, H=4, ends=1.0)


# ---- 10.2 rank_hypotheses ----

EOS = 0  # as in the example of the task


def _hypotheses(rng: torch.Generator, n: int, longest: int = 15, cut: int = 0) -> tuple[list[tuple], list[float]]:
    """n hypotheses and their log-probabilities, less probable the longer; the last ``cut`` of them have no EOS.

    One is nothing but EOS.
    """
    lengths = [1, *integers(rng, 2, longest, n - 1 - cut).tolist(), *[longest] * cut]
    tokens = [tuple(integers(rng, 1, 99, m).tolist()) for m in lengths]
    hyps = [(*row[:-1], EOS) if place < n - cut else row for place, row in enumerate(tokens)]
    logps = [-(m**0.6) * float(1 + torch.rand(1, generator=rng)) for m in lengths]
    order = torch.randperm(n, generator=rng).tolist()
    return [hyps[i] for i in order], [logps[i] for i in order]


@probe("rank_hypotheses", "alpha between 0 and 1")
def rank_hypotheses_between(rank_hypotheses, rng):
    return {f"alpha = {alpha}": rank_hypotheses(*_hypotheses(rng, 17), alpha) for alpha in (0.4, 0.6, 0.8)}


@probe("rank_hypotheses", "alpha = 1: the mean of a token")
def rank_hypotheses_mean(rank_hypotheses, rng):
    return {f"ranking {number}": rank_hypotheses(*_hypotheses(rng, 19), 1.0) for number in (1, 2, 3)}


@probe("rank_hypotheses", "alpha = 0: the probability alone")
def rank_hypotheses_alone(rank_hypotheses, rng):
    return {f"ranking {number}": rank_hypotheses(*_hypotheses(rng, 13), 0.0) for number in (1, 2)}


@probe("rank_hypotheses", "some hypotheses were cut off before their EOS")
def rank_hypotheses_cut(rank_hypotheses, rng):
    return {f"ranking {number}": rank_hypotheses(*_hypotheses(rng, 17, cut=6), 0.7) for number in (1, 2, 3)}


@probe("rank_hypotheses", "lengths that are all the same; one hypothesis")
def rank_hypotheses_same_length(rank_hypotheses, rng):
    hyps = [(*integers(rng, 1, 99, 4).tolist(), EOS) for _ in range(9)]
    logps = [-4 - 3 * float(torch.rand(1, generator=rng)) for _ in hyps]
    return {"same length": rank_hypotheses(hyps, logps, 0.5), "one": rank_hypotheses(hyps[:1], logps[:1], 0.5)}


@probe("rank_hypotheses", "the result is right, and hyps and logps are as they were after the call")
def rank_hypotheses_untouched(rank_hypotheses, rng):
    hyps, logps = _hypotheses(rng, 18)
    places = rank_hypotheses(hyps, logps, 0.9)
    return {"places": places, "hyps after": list(hyps), "logps after": list(logps)}


@probe("rank_hypotheses", "long hypotheses, and an alpha above 1", weight=0)
def rank_hypotheses_long(rank_hypotheses, rng):
    return {"places": rank_hypotheses(*_hypotheses(rng, 21, longest=40), 1.5)}


# ---- 10.3 bleu ----

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "near", "mat", "tree", "and"]
Corpus = tuple[list[list[str]], list[list[str]]]


def _sentence(rng: torch.Generator, n: int) -> list[str]:
    return [WORDS[i] for i in integers(rng, 0, len(WORDS), n).tolist()]


def _corpus(rng: torch.Generator, *sizes: tuple[int, int, int]) -> Corpus:
    """Sentence by sentence (length of the reference, words wrong, words more): hypotheses and references.

    Wrong words stand at random places; more words repeat the beginning, fewer leave out the end. A word that the first
    hypothesis misses stands in the second, where it is wrong.
    """
    hyps, refs = [], []
    for n, wrong, more in sizes:
        ref = _sentence(rng, n)
        hyp = ref + ref[:more] if more >= 0 else ref[:more]
        for place in torch.randperm(len(hyp), generator=rng)[:wrong].tolist():
            hyp[place] = "uh"
        hyps.append(hyp)
        refs.append(ref)
    if len(refs) > 1:
        place = _some(rng, 0, 4)
        refs[0][place], hyps[0][place], hyps[1][place] = "owl", "uh", "owl"
    order = torch.randperm(len(refs), generator=rng).tolist()
    return [hyps[i] for i in order], [refs[i] for i in order]


@probe("bleu", "as many words as in the references, some of them wrong")
def bleu_same_length(bleu, rng):
    return {"BLEU": bleu(*_corpus(rng, (19, 1, -4), (14, 1, 4), (16, 0, 0), (12, 2, 0)))}


@probe("bleu", "less was written than is right")
def bleu_shorter(bleu, rng):
    return {"BLEU": bleu(*_corpus(rng, (17, 1, -7), (13, 0, 2), (16, 2, -2), (21, 0, -5)))}


@probe("bleu", "more was written than is right")
def bleu_longer(bleu, rng):
    return {"BLEU": bleu(*_corpus(rng, (9, 1, 6), (13, 1, 2), (14, 0, -2), (11, 0, 7)))}


@probe("bleu", "one sentence")
def bleu_alone(bleu, rng):
    return {"shorter": bleu(*_corpus(rng, (19, 1, -3))), "longer": bleu(*_corpus(rng, (17, 1, 5)))}


@probe("bleu", "some sentences are shorter than four words, one has no word right")
def bleu_short_sentences(bleu, rng):
    return {"BLEU": bleu(*_corpus(rng, (19, 1, -2), (15, 2, 3), (3, 0, 0), (2, 0, 1), (3, 3, 0)))}


@probe("bleu", "all is right: 1; nothing right in one of the orders, or nothing written: 0")
def bleu_ends(bleu, rng):
    right = _sentence(rng, 9)
    cases = {
        "all right": ([right, right[:5]], [right, right[:5]]),
        "no group of four": ([[*right[:3], "uh", *right[4:7], "oh", right[8]]], [right]),
        "no word": ([["uh"] * 7], [right]),
        "three words": ([right[:3]], [right]),
        "one sentence empty": ([right, []], [right, right[:2]]),
        "nothing written": ([[], []], [right, right[:4]]),
        "no sentences": ([], []),
    }
    return {name: _or_error(bleu, *case) for name, case in cases.items()}


def _or_error(bleu: Callable, hyps: list, refs: list):
    """The result, or a text if a logarithm of 0 or a division by 0 stopped it."""
    try:
        return bleu(hyps, refs)
    except ZeroDivisionError:
        return "an error: something was divided by 0"
    except ValueError:
        return "an error: the logarithm of 0 was taken"


@probe("bleu", "the result is right, and hyps and refs are as they were after the call")
def bleu_untouched(bleu, rng):
    hyps, refs = _corpus(rng, (14, 1, 3), (18, 2, -6), (13, 0, 0))
    result = bleu(hyps, refs)
    return {"BLEU": result, "hyps after": tuple(map(tuple, hyps)), "refs after": tuple(map(tuple, refs))}


@probe("bleu", "sentences of one length", weight=0)
def bleu_same_sizes(bleu, rng):
    return {"BLEU": bleu(*_corpus(rng, (12, 1, 0), (12, 2, 0), (12, 0, 0)))}


# ---- 10.4 attention_rollout ----

L, N, T = 4, 3, 7
SAME = 4  # the one size of the naming probes


def _weights(rng: torch.Generator, *shape: int) -> Tensor:
    """Random weights, rows of sum 1: some positions get much, some little."""
    return torch.softmax(1.5 * normal(rng, *shape), dim=-1)


@probe("attention_rollout", "several layers with several heads")
def attention_rollout_layers(attention_rollout, rng):
    return {"R": attention_rollout(_weights(rng, L, N, T, T))}


@probe("attention_rollout", "one layer")
def attention_rollout_one_layer(attention_rollout, rng):
    return {"R": attention_rollout(_weights(rng, 1, N, T, T))}


@probe("attention_rollout", "one head in each layer")
def attention_rollout_one_head(attention_rollout, rng):
    return {"R": attention_rollout(_weights(rng, L, 1, T, T))}


@probe("attention_rollout", "causal weights: nothing comes from the future")
def attention_rollout_causal(attention_rollout, rng):
    A = _weights(rng, L, N, T, T).tril()
    return {"R": attention_rollout(A / A.sum(dim=-1, keepdim=True))}


@probe("attention_rollout", "queries that could attend to nothing: rows of 0")
def attention_rollout_nothing(attention_rollout, rng):
    A = _weights(rng, L, N, T, T)
    lost = torch.stack([torch.randperm(T, generator=rng)[:2] for _ in range(L)])  # (L, 2)
    A[torch.arange(L)[:, None], :, lost] = 0
    return {"R": attention_rollout(A)}


@probe("attention_rollout", "the rollout has the number type of A, whatever torch's default is")
def attention_rollout_dtype(attention_rollout, rng):
    A = torch.nn.functional.one_hot(integers(rng, 0, T, 3, 2, T), T).float()  # halves and quarters: exact
    try:
        R = attention_rollout(A)
    except RuntimeError as error:
        if "dtype" not in str(error):
            raise
        return {"R": "an error: two number types were mixed", "number type": None}
    return {"R": R, "number type": str(getattr(R, "dtype", None))}


@probe("attention_rollout", "the result is right, and A is as it was after the call")
def attention_rollout_untouched(attention_rollout, rng):
    A = _weights(rng, 2, N, 5, 5)
    return {"R": attention_rollout(A), "A after": A}


@probe("attention_rollout", "all sizes the same", weight=0)
def attention_rollout_same_sizes(attention_rollout, rng):
    return {"R": attention_rollout(_weights(rng, SAME, SAME, SAME, SAME))}


# ---- 10.5 induction_score ----


@probe("induction_score", "several heads; the last period is not complete")
def induction_score_heads(induction_score, rng):
    return {"score": induction_score(_weights(rng, 5, 11, 11), 4)}


@probe("induction_score", "a text of two periods; one head")
def induction_score_two_periods(induction_score, rng):
    return {"two periods": induction_score(_weights(rng, 3, 12, 12), 6), "one head": _one_head(induction_score, rng)}


def _one_head(induction_score: Callable, rng: torch.Generator):
    return induction_score(_weights(rng, 1, 14, 14), 7)


@probe("induction_score", "many periods, and the shortest there is")
def induction_score_many_periods(induction_score, rng):
    return {
        "period 3": induction_score(_weights(rng, 2, 13, 13), 3),
        "period 2": induction_score(_weights(rng, 4, 9, 9), 2),
    }


@probe("induction_score", "one token of the second period has been read")
def induction_score_one_token(induction_score, rng):
    return {"score": induction_score(_weights(rng, 3, 8, 8), 7)}


@probe("induction_score", "causal weights")
def induction_score_causal(induction_score, rng):
    A = _weights(rng, 3, 13, 13).tril()
    return {"score": induction_score(A / A.sum(dim=-1, keepdim=True), 5)}


@probe("induction_score", "the result is right and gradients reach A")
def induction_score_gradients(induction_score, rng):
    A = _weights(rng, 4, 10, 10).requires_grad_()
    return gradients(rng, induction_score(A, 3), A=A)


@probe("induction_score", "the result is right, and A is as it was after the call")
def induction_score_untouched(induction_score, rng):
    A = _weights(rng, 3, 11, 11)
    return {"score": induction_score(A, 5), "A after": A}


@probe("induction_score", "as many heads as tokens", weight=0)
def induction_score_same_sizes(induction_score, rng):
    return {"score": induction_score(_weights(rng, 6, 6, 6), 3)}
