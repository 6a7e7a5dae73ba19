"""The exercises of chapter 10 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch

from autograder.exercise import Exercise
from autograder.probes import ch10_decoding as probes
from unrolled import beam, induction, rollout
from unrolled import bleu as bleu_score
from unrolled.beam import Hypothesis
from unrolled.bleu import ngrams

SETUP_NAMES = frozenset({"Hypothesis", "ngrams"})


# ---- 10.1 beam_search ----

BEAM_SEARCH = Exercise(
    number="10.1",
    references=(beam.beam_search,),
    probe_module=probes,
    points=5,
    minutes=35,
    difficulty=3,
    equivalent={
        "logp = torch.log_softmax(logits, dim=1)": "numbers in tensors are added and sorted like numbers in lists."
    },
)


@BEAM_SEARCH.misconception(
    "Probabilities are added",
    fails=BEAM_SEARCH.all_but(),
    hints=(
        "Your numbers are positive and grow with the length: the longest sentences win.",
        "The probabilities of the tokens were added up. They are multiplied, and so it is their logarithms that are "
        "added.",
        "Read the equation: what stands before softmax?",
    ),
)
def beam_search__probabilities_added(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The raw scores are added",
    fails=BEAM_SEARCH.all_but(),
    hints=(
        "Your numbers are no logarithms of probabilities: some are positive.",
        "The scores of the decoder were added as they are. Two beginnings can be compared only when the scores of "
        "each have been turned into probabilities that sum to 1.",
        "Read the equation: what happens to the scores o before they are added?",
    ),
)
def beam_search__scores_added(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = logits.tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "Probabilities are multiplied, and no logarithm is taken",
    fails=BEAM_SEARCH.all_but(),
    hints=(
        "Your hypotheses are right. The numbers beside them are probabilities.",
        "The product is right, but of a long sentence it becomes so small that the computer takes it for 0. Add "
        "logarithms.",
        "Read the equation: its left side.",
    ),
)
def beam_search__no_logarithm(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 1.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp * p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The sign is lost: costs instead of log-probabilities",
    fails=BEAM_SEARCH.all_but(),
    hints=(
        "Your hypotheses are right. The numbers beside them are positive.",
        "The logarithm of a probability is never above 0. You have added up what it costs, which is the same but for "
        "its sign.",
        "Read the equation: its left side.",
    ),
)
def beam_search__cost(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp - p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "Only the last token counts",
    fails=BEAM_SEARCH.all_but("one_step"),
    hints=(
        "The number beside each hypothesis is that of its last token alone.",
        "What the beginning has cost was forgotten: a bad beginning with a good next token wins.",
        "Read the equation: two terms are added on its right side.",
    ),
)
def beam_search__last_token_only(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "Hypotheses that have ended grow on",
    fails=BEAM_SEARCH.all_but("all_cut", "one_step"),
    hints=(
        "All your hypotheses have max_len tokens, and EOS stands in the middle of some.",
        "After EOS there is nothing to say. One that has ended stays as it is, and is compared with the others as it "
        "is.",
        "Read what the task says about those that have ended.",
    ),
)
def beam_search__eos_ends_nothing(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = list(beam)
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for _, row in found]]
    return beam


@BEAM_SEARCH.misconception(
    "Those that have ended collect further EOS",
    fails=BEAM_SEARCH.all_but("one", "all_cut", "one_step"),
    hints=(
        "The numbers are right, but behind the first EOS of a hypothesis stand more.",
        "One that has ended was carried along by an EOS that costs nothing. That works; but it was written down each "
        "time.",
        "Read what the task says about those that have ended: they stay as they are.",
    ),
)
def beam_search__eos_repeated(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(Hypothesis((*hyp.tokens, eos), hyp.logp), None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "Those that have ended are lost",
    fails=BEAM_SEARCH.all_but("one", "all_cut", "one_step"),
    hints=(
        "Hypotheses that end before the others are missing from your list.",
        "Only the extensions of the living were compared. Those that have ended have no extension and fell out.",
        "Read what the task says about those that have ended: they stand beside the extensions.",
    ),
)
def beam_search__ended_lost(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = []
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "Each beginning keeps its own best extension",
    fails=BEAM_SEARCH.all_but("one", "one_step"),
    hints=(
        "With k = 1 you are right. With more, your hypotheses all begin differently: each place goes its own way.",
        "After the first step every beginning kept one extension, the best of its own. The k best of *all* extensions "
        "stay: a good beginning may have several, a bad one none.",
        "Read what the task says about which k stay.",
    ),
)
def beam_search__best_of_each(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            grown = [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
            found += sorted(grown, key=lambda pair: -pair[0].logp)[: 1 if hyp.tokens else k]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The states stay where they are",
    fails=BEAM_SEARCH.all_but("one", "one_step"),
    hints=(
        "With k = 1 you are right. With more, tokens and states do not belong together after two steps.",
        "The hypotheses were sorted and their states were not. Each new hypothesis takes the state of its own "
        "beginning along: reorder the rows of h in the same way.",
        "Read what the task says about step: which row of h belongs to which token?",
    ),
)
def beam_search__states_stay(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0.expand(k, -1)
    for _ in range(max_len):
        if all(hyp.tokens[-1:] == (eos,) for hyp in beam):
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in beam] + [bos] * (k - len(beam)))
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [hyp for hyp in beam if hyp.tokens[-1:] == (eos,)]
        for row, hyp in enumerate(beam):
            if hyp.tokens[-1:] != (eos,):
                found += [Hypothesis((*hyp.tokens, v), hyp.logp + p) for v, p in enumerate(logp[row])]
        beam = sorted(found, key=lambda hyp: -hyp.logp)[:k]
    return beam


@BEAM_SEARCH.misconception(
    "The states of the first rows are taken, whatever stayed",
    fails=BEAM_SEARCH.all_but("one", "one_step"),
    hints=(
        "With k = 1 you are right. With more, tokens and states do not belong together after two steps.",
        "As many states were kept as beginnings are alive, but the first rows, not those of the ones that stayed. "
        "Remember for each candidate which row it came from, and take these rows of h.",
        "Read what the task says about step: which row of h belongs to which token?",
    ),
)
def beam_search__first_states(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h[[min(row, len(h) - 1) for row in range(len(y))]])
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [hyp for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [Hypothesis((*hyp.tokens, v), hyp.logp + p) for v, p in enumerate(logp[row])]
        beam = sorted(found, key=lambda hyp: -hyp.logp)[:k]
    return beam


@BEAM_SEARCH.misconception(
    "The state is not carried on",
    fails=BEAM_SEARCH.all_but("one_step"),
    hints=(
        "Your first tokens are right; then the decoder has no memory but the last token.",
        "step is given h0 each time. It returns the states for the next step: use them, each with its own hypothesis.",
        "Read what the task says about step and about h0.",
    ),
)
def beam_search__state_not_carried(step, h0, bos, eos, k, max_len):
    beam = [Hypothesis((), 0.0)]
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, _ = step(y, h0.expand(len(alive), -1))
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
    return beam


@BEAM_SEARCH.misconception(
    "The decoder reads BOS at every step",
    fails=BEAM_SEARCH.all_but("one_step"),
    hints=(
        "Your first tokens are right; the later ones do not depend on what was said.",
        "step is given BOS each time. What a hypothesis said last is what the decoder reads next.",
        "Read what the task says about y in step.",
    ),
)
def beam_search__always_bos(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.full((len(alive),), bos)
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The search begins with k copies of the same beginning",
    fails=BEAM_SEARCH.all_but("one"),
    hints=(
        "With k = 1 you are right. With more, all your hypotheses are equal.",
        "k equal beginnings have equal extensions: the best one comes k times, and greedy search was done k times. "
        "Begin with one empty hypothesis.",
        "Read what the task says about h0: how many rows has it?",
    ),
)
def beam_search__copies(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)] * k, h0.expand(k, -1)
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The first EOS stops the search",
    fails=BEAM_SEARCH.all_but("one", "all_cut", "one_step"),
    hints=(
        "As soon as one hypothesis has ended you return all of them, as short as they are.",
        "One of the k has ended; one that is still growing may be more probable in the end. All that stay must have "
        "ended.",
        "Read what the task says about when the search is over.",
    ),
)
def beam_search__first_eos_stops(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if len(alive) < len(beam):
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The search stops when the best hypothesis has ended",
    fails=BEAM_SEARCH.all_but("one", "all_cut", "one_step"),
    hints=(
        "The first of your hypotheses is right. Others were cut off in the middle.",
        "A sentence that has ended and leads cannot be overtaken any more: as long as only the best is wanted, you "
        "may stop. Here k are wanted, and the others still grow.",
        "Read what the task says about when the search is over: all that stay have ended.",
    ),
)
def beam_search__best_eos_stops(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if beam[0].tokens[-1:] == (eos,):
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "EOS takes up no place: a beam of 1 is not greedy",
    fails=BEAM_SEARCH.all_but("wide", "all_cut", "one_step"),
    hints=(
        "Even with k = 1 your result is not that of greedy search.",
        "Every EOS that could be said was put aside, and the k best of the others went on. With k = 1 the search then "
        "goes on where greedy search ends. An extension by EOS has to be among the k best like any other.",
        "Read what the task says about which k stay, and about k = 1.",
    ),
)
def beam_search__eos_takes_no_place(step, h0, bos, eos, k, max_len):
    beam, h, ended = [Hypothesis((), 0.0)], h0, []
    for _ in range(max_len):
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in beam])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = []
        for row, hyp in enumerate(beam):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        ended += [hyp for hyp, _ in found if hyp.tokens[-1] == eos]
        found = [pair for pair in found if pair[0].tokens[-1] != eos]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for _, row in found]]
    return sorted(ended + beam, key=lambda hyp: -hyp.logp)[:k]


@BEAM_SEARCH.misconception(
    "Those that have ended give their place away",
    fails=BEAM_SEARCH.all_but("one", "wide", "all_cut", "one_step"),
    hints=(
        "With k = 1 you are right. With more, your list holds hypotheses that should have been dropped on the way.",
        "One that has ended was put aside, and the beam filled up again with k others. In this search it keeps its "
        "place among the k as long as it is good enough.",
        "Read what the task says about which k stay: those that have ended are among the candidates.",
    ),
)
def beam_search__place_given_away(step, h0, bos, eos, k, max_len):
    beam, h, ended = [Hypothesis((), 0.0)], h0, []
    for _ in range(max_len):
        if not beam:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in beam])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = []
        for row, hyp in enumerate(beam):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        ended += [hyp for hyp, _ in found if hyp.tokens[-1] == eos]
        found = [pair for pair in found if pair[0].tokens[-1] != eos]
        beam = [hyp for hyp, _ in found]
        h = h[[row for _, row in found]]
    return sorted(ended + beam, key=lambda hyp: -hyp.logp)[:k]


@BEAM_SEARCH.misconception(
    "Those that have ended can never be pushed out",
    fails=BEAM_SEARCH.all_but("one", "wide", "all_cut", "one_step"),
    hints=(
        "With k = 1 you are right. With more, your list holds sentences that ended early and are less probable than "
        "others.",
        "Each one that ended kept its place for good, and fewer were left for the rest. It has to stand the "
        "comparison at every step.",
        "Read what the task says about which k stay: the most probable of *all*.",
    ),
)
def beam_search__ended_never_leave(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        ended, found = [hyp for hyp in beam if hyp not in alive], []
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[: k - len(ended)]
        beam = ended + [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return sorted(beam, key=lambda hyp: -hyp.logp)


@BEAM_SEARCH.misconception(
    "The mean of the tokens decides, not the sum",
    fails=BEAM_SEARCH.all_but("one", "all_cut", "one_step"),
    hints=(
        "With k = 1 you are right. With more, long hypotheses stay where short ones are more probable.",
        "The log-probability was divided by the length before sorting. That is for the ranking at the end, the next "
        "exercise; here the most probable stay.",
        "Read what the task says about which k stay.",
    ),
)
def beam_search__mean_of_tokens(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp / len(pair[0].tokens))[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "The worst hypothesis comes first",
    fails=BEAM_SEARCH.all_but("one"),
    hints=(
        "The right hypotheses, in the opposite order.",
        "sorted puts the smallest first; the most probable has the largest log-probability.",
        "Read what the task says about the order of the result.",
    ),
)
def beam_search__worst_first(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam[::-1]


@BEAM_SEARCH.misconception(
    "Those that have ended come first",
    fails=BEAM_SEARCH.all_but("three", "one", "all_cut", "untouched"),
    hints=(
        "The right hypotheses, but some that have ended stand before more probable ones that were cut off.",
        "Two lists, ended and cut off, were sorted each on its own and joined.",
        "Read what the task says about the order of the result.",
    ),
)
def beam_search__ended_first(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return sorted(beam, key=lambda hyp: hyp.tokens[-1] != eos)


@BEAM_SEARCH.misconception(
    "Only the best hypothesis is returned",
    fails=BEAM_SEARCH.all_but(),
    hints=(
        "Your hypothesis is right, but it is one, and k are asked for.",
        "All that stay are returned, in a list, also when there is only one.",
        "Read what the task says about the result.",
    ),
)
def beam_search__best_only(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam[0]


@BEAM_SEARCH.misconception(
    "Hypotheses without EOS are left out",
    fails=BEAM_SEARCH.all_but("three", "one", "untouched"),
    hints=(
        "What you return is right, but those that were cut at max_len are missing.",
        "Only those that have ended were returned. If no EOS comes nothing is left.",
        "Read what the task says about the result: one that was cut off has no EOS.",
    ),
)
def beam_search__cut_left_out(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return [hyp for hyp in beam if hyp.tokens[-1] == eos]


@BEAM_SEARCH.misconception(
    "Hypotheses that come to max_len get an EOS they have not said",
    fails=BEAM_SEARCH.all_but("three", "one", "untouched"),
    hints=(
        "Those that end in time are right; in the others the last token was replaced by EOS.",
        "A sentence that was cut is to be seen as cut, and the number beside it is that of the token which it did say.",
        "Read what the task says about the result: one that was cut off has no EOS.",
    ),
)
def beam_search__eos_forced(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return [Hypothesis((*hyp.tokens[:-1], eos), hyp.logp) for hyp in beam]


@BEAM_SEARCH.misconception(
    "BOS is kept in front",
    fails=BEAM_SEARCH.all_but(),
    hints=(
        "All is right, but every hypothesis begins with BOS.",
        "BOS is where the decoder starts from; it has not said it.",
        "Read what the task says about the tokens: without BOS.",
    ),
)
def beam_search__bos_kept(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return [Hypothesis((bos, *hyp.tokens), hyp.logp) for hyp in beam]


@BEAM_SEARCH.misconception(
    "EOS is cut off",
    fails=BEAM_SEARCH.all_but("all_cut"),
    hints=(
        "All is right, but EOS is missing from those that have ended.",
        "Without it nobody can tell a sentence that has ended from one that was cut, and its probability counts the "
        "EOS.",
        "Read what the task says about the tokens of one that has ended.",
    ),
)
def beam_search__eos_cut(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return [Hypothesis(tuple(v for v in hyp.tokens if v != eos), hyp.logp) for hyp in beam]


@BEAM_SEARCH.misconception(
    "One token more than max_len",
    fails=BEAM_SEARCH.all_but("three", "one", "untouched"),
    hints=(
        "Hypotheses that end in time are right; others have max_len + 1 tokens.",
        "The loop makes one turn too many, perhaps to leave room for EOS. max_len counts EOS.",
        "Read what the task says about max_len.",
    ),
)
def beam_search__one_too_many(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len + 1):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


@BEAM_SEARCH.misconception(
    "One token less than max_len",
    fails=BEAM_SEARCH.all_but("three", "one", "untouched"),
    hints=(
        "Hypotheses that end early are right; others have max_len - 1 tokens.",
        "The loop makes one turn too few, as if BOS counted.",
        "Read what the task says about max_len: BOS is not among the tokens.",
    ),
)
def beam_search__one_too_few(step, h0, bos, eos, k, max_len):
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len - 1):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([(bos, *hyp.tokens)[-1] for hyp in alive])
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()
        found = [(hyp, None) for hyp in beam if hyp not in alive]
        for row, hyp in enumerate(alive):
            found += [(Hypothesis((*hyp.tokens, v), hyp.logp + p), row) for v, p in enumerate(logp[row])]
        found = sorted(found, key=lambda pair: -pair[0].logp)[:k]
        beam = [hyp for hyp, _ in found]
        h = h[[row for hyp, row in found if hyp.tokens[-1] != eos]]
    return beam


# ---- 10.2 rank_hypotheses ----

RANK_HYPOTHESES = Exercise(
    number="10.2",
    references=(beam.rank_hypotheses,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
    equivalent={
        (
            "scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=False)]"
        ): "there are as many logps as hyps.",
    },
)


@RANK_HYPOTHESES.convention(
    "the length is taken as (5 + |y|) / 6, as in Google's translator (Wu et al. 2016), which spares short hypotheses "
    "the most; the equation of the task has |y|, and both are accepted"
)
def rank_hypotheses__google(hyps, logps, alpha):
    scores = [logp / ((5 + len(hyp)) / 6) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "BOS is counted",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise short hypotheses gain less than they should.",
        "You divide by the length and one more, as if BOS were among the tokens.",
        "Read what the task says about |y|.",
    ),
)
def rank_hypotheses__bos_counted(hyps, logps, alpha):
    scores = [logp / (len(hyp) + 1) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "EOS is not counted",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise those that have ended are punished.",
        "EOS was left out of the length. It is a token like the others, and its probability is in the sum.",
        "Read what the task says about |y|.",
    ),
)
def rank_hypotheses__eos_not_counted(hyps, logps, alpha):
    scores = [logp / max(1, sum(token != 0 for token in hyp)) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "One token is taken off every length",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise short hypotheses lose more than they should.",
        "You divide by the length less one, for EOS. It is a token like the others, and its probability is in the sum.",
        "Read what the task says about |y|.",
    ),
)
def rank_hypotheses__one_less(hyps, logps, alpha):
    scores = [logp / max(1, len(hyp) - 1) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "Multiplied by the length, not divided",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise long hypotheses are worse off than before.",
        "logp is negative: multiplied by the length it is lower still.",
        "Read the equation: where does |y| stand?",
    ),
)
def rank_hypotheses__multiplied(hyps, logps, alpha):
    scores = [logp * len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "Only those that have ended get their length back",
    fails=("rank_hypotheses_cut",),
    hints=(
        "Where all have ended you are right. Those that were cut off come last.",
        "Only hypotheses with an EOS at the end were divided. All are measured by the same rule.",
        "Read what the task says about hypotheses without EOS.",
    ),
)
def rank_hypotheses__ended_only(hyps, logps, alpha):
    scores = [logp / (len(hyp) ** alpha if hyp[-1] == 0 else 1) for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "alpha does not count: always the mean",
    fails=RANK_HYPOTHESES.all_but("mean", "same_length"),
    hints=(
        "With alpha = 1 you are right, with any other alpha not.",
        "You always divide by the whole length.",
        "Read the equation: the exponent.",
    ),
)
def rank_hypotheses__alpha_ignored(hyps, logps, alpha):
    scores = [logp / len(hyp) for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "The length does not count",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right, with any other alpha not.",
        "You sort by the log-probability alone, whatever alpha is.",
        "Read the equation: what stands below?",
    ),
)
def rank_hypotheses__length_ignored(hyps, logps, alpha):
    scores = [logp for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "alpha is a factor, not an exponent",
    fails=RANK_HYPOTHESES.all_but("mean", "same_length"),
    hints=(
        "With alpha = 1 you are right; with alpha = 0 you divide by 0, and between you have the mean, whatever alpha "
        "is.",
        "The length was multiplied by alpha. It is raised to it.",
        "Read the equation: the exponent.",
    ),
)
def rank_hypotheses__alpha_times_length(hyps, logps, alpha):
    scores = [logp / (alpha * len(hyp)) for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "A bonus for each token, instead of a division",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise the longest hypotheses win, whatever they are.",
        "alpha was added for each token. There are systems that do so, with an alpha of their own; here the logarithm "
        "is divided.",
        "Read the equation: is it a sum or a quotient?",
    ),
)
def rank_hypotheses__bonus(hyps, logps, alpha):
    scores = [logp + alpha * len(hyp) for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "The probability is divided, not its logarithm",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise long hypotheses are worse off than before.",
        "exp(logp) was divided by the length: a positive number becomes smaller. A negative logarithm comes closer to "
        "0, which is better.",
        "Read the equation: what stands above?",
    ),
)
def rank_hypotheses__probability_divided(hyps, logps, alpha):
    scores = [math.exp(logp) / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "The logarithm of the length is taken",
    fails=RANK_HYPOTHESES.all_but("alone", "same_length"),
    hints=(
        "With alpha = 0 you are right. Otherwise long hypotheses gain less than they should.",
        "The logarithm of the length was added: that multiplies the *probability* by the length. Here its logarithm "
        "is divided.",
        "Read the equation: what stands above, and what below?",
    ),
)
def rank_hypotheses__logarithm_of_length(hyps, logps, alpha):
    scores = [logp + alpha * math.log(len(hyp)) for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: -scores[place])


@RANK_HYPOTHESES.misconception(
    "The worst comes first",
    fails=RANK_HYPOTHESES.all_but(),
    hints=(
        "Your ranking is right, from the wrong end.",
        "sorted puts the smallest first. The best has the highest score.",
        "Read what the task says about the order of the result.",
    ),
)
def rank_hypotheses__worst_first(hyps, logps, alpha):
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(hyps)), key=lambda place: scores[place])


@RANK_HYPOTHESES.misconception(
    "The rank of each hypothesis, not the places in order",
    fails=RANK_HYPOTHESES.all_but(),
    hints=(
        "Your numbers are a ranking, read in the other direction.",
        "Number i of your result says which rank hypothesis i has. It should say which hypothesis has rank i.",
        "Read what the task says about the result, and its example.",
    ),
)
def rank_hypotheses__ranks(hyps, logps, alpha):
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    order = sorted(range(len(hyps)), key=lambda place: -scores[place])
    return [order.index(place) for place in range(len(hyps))]


@RANK_HYPOTHESES.misconception(
    "The hypotheses are returned, not their places",
    fails=RANK_HYPOTHESES.all_but(),
    hints=(
        "The order is right, but you return tokens.",
        "The places in hyps are asked for: with them logps can be sorted, too.",
        "Read what the task says about the result, and its example.",
    ),
)
def rank_hypotheses__hypotheses(hyps, logps, alpha):
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    order = sorted(range(len(hyps)), key=lambda place: -scores[place])
    return [hyps[place] for place in order]


@RANK_HYPOTHESES.misconception(
    "The scores are returned, not the places",
    fails=RANK_HYPOTHESES.all_but(),
    hints=(
        "Your numbers are the scores.",
        "They are right, but they are to be sorted, and what is asked for is where the best stands.",
        "Read what the task says about the result, and its example.",
    ),
)
def rank_hypotheses__scores(hyps, logps, alpha):
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(scores, reverse=True)


@RANK_HYPOTHESES.misconception(
    "Only the best place is returned",
    fails=RANK_HYPOTHESES.all_but(),
    hints=(
        "Your place is the right one, but all are asked for.",
        "A list of all places was asked for, the best first.",
        "Read what the task says about the result, and its example.",
    ),
)
def rank_hypotheses__best_only(hyps, logps, alpha):
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return max(range(len(hyps)), key=lambda place: scores[place])


@RANK_HYPOTHESES.misconception(
    "Places are counted from 1",
    fails=RANK_HYPOTHESES.all_but(),
    hints=(
        "All your numbers are too high by 1.",
        "The first hypothesis has place 0: hyps[0].",
        "Read the example in the task.",
    ),
)
def rank_hypotheses__from_one(hyps, logps, alpha):
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(1, len(hyps) + 1), key=lambda place: -scores[place - 1])


# ---- 10.3 bleu ----

BLEU = Exercise(
    number="10.3",
    references=(bleu_score.bleu,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=2,
    equivalent={"for hyp, ref in zip(hyps, refs, strict=False):": "there are as many refs as hyps."},
)


@BLEU.misconception(
    "No clipping: a group counts as often as it is repeated",
    fails=BLEU.all_but("ends"),
    hints=(
        "Who repeats a right word gains in your answer.",
        "Every group that stands in the reference counted each time it was written. It counts at most as often as it "
        "stands there.",
        "Read the equation of p_n: the minimum.",
    ),
)
def bleu__no_clipping(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(count for group, count in found.items() if group in right)
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "Each group counts once, however often it is right",
    fails=BLEU.all_but("ends"),
    hints=(
        "Where no group occurs twice you are right. Repetitions that stand in the reference, too, count too little.",
        "Sets of groups were compared. A group that stands twice in both counts twice.",
        "Read the equation of p_n: the minimum of two counts.",
    ),
)
def bleu__sets(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += len(found.keys() & right.keys())
            total += len(found)
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "Clipped with the counts of all references together",
    fails=BLEU.all_but("alone", "ends"),
    hints=(
        "With one sentence you are right. With several, a group that stands in another sentence's reference counts, "
        "too.",
        "The groups of all sentences were thrown together before they were compared. Each hypothesis has its own "
        "reference.",
        "Read the equation of p_n: the minimum stands inside the sum over i.",
    ),
)
def bleu__clipped_to_corpus(hyps, refs):
    logs = []
    for n in range(1, 5):
        found, right = ngrams([], n), ngrams([], n)
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = found + ngrams(hyp, n), right + ngrams(ref, n)
        hits = sum(min(count, right[group]) for group, count in found.items())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / sum(found.values())))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "All sentences are joined into one",
    fails=BLEU.all_but("alone", "ends"),
    hints=(
        "With one sentence you are right. With several, there are groups that begin in one sentence and end in the "
        "next.",
        "The words of all hypotheses were put in one row, and so those of the references. Each hypothesis has its own "
        "reference.",
        "Read the equation of p_n: the sum over i.",
    ),
)
def bleu__joined(hyps, refs):
    logs = []
    hyps = [[word for hyp in hyps for word in hyp]]
    refs = [[word for ref in refs for word in ref]]
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "No brevity penalty",
    fails=BLEU.all_but("same_length", "longer", "short_sentences"),
    hints=(
        "Where enough was written you are right. Who writes little and that right gets too much.",
        "Without the penalty it is best to write only what one is sure of.",
        "Read the equation of BLEU: the minimum.",
    ),
)
def bleu__no_penalty(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    return math.exp(sum(logs) / 4)


@BLEU.misconception(
    "The penalty becomes a reward",
    fails=BLEU.all_but("same_length", "shorter", "ends", "untouched"),
    hints=(
        "Where too little was written you are right. Who writes too much gains, up to more than 1.",
        "exp(1 - r/c) is above 1 if c is above r. Writing more is punished by the precisions already, and not "
        "rewarded.",
        "Read the equation of BLEU: the minimum with 0.",
    ),
)
def bleu__penalty_above_one(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(1 - r / c + sum(logs) / 4)


@BLEU.misconception(
    "The penalty has c and r exchanged",
    fails=BLEU.all_but("same_length"),
    hints=(
        "Where as much was written as is right you are right. Writing too much is punished and too little is not.",
        "1 - c/r is negative if c is above r. Who writes too little is to be punished.",
        "Read the equation of BLEU: which of the two stands above?",
    ),
)
def bleu__penalty_swapped(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - c / r) + sum(logs) / 4)


@BLEU.misconception(
    "The penalty is the share of the length itself",
    fails=BLEU.all_but("same_length", "longer", "short_sentences"),
    hints=(
        "Where enough was written you are right. Where too little was written the penalty is not the right one.",
        "You multiply by c/r. The penalty is exp(1 - r/c), which begins alike and then falls faster.",
        "Read the equation of BLEU.",
    ),
)
def bleu__penalty_linear(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return min(1.0, c / r) * math.exp(sum(logs) / 4)


@BLEU.misconception(
    "The penalty is taken sentence by sentence",
    fails=BLEU.all_but("alone"),
    hints=(
        "With one sentence you are right. With several, a short one is punished even if others are long.",
        "The penalty of each sentence was taken and the mean of all. c and r are lengths of the whole corpus.",
        "Read what the task says about c and r.",
    ),
)
def bleu__penalty_by_sentence(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    penalties = [min(1.0, math.exp(1 - len(ref) / len(hyp))) for hyp, ref in zip(hyps, refs, strict=True)]
    return sum(penalties) / len(penalties) * math.exp(sum(logs) / 4)


@BLEU.misconception(
    "The penalty is divided by 4, too",
    fails=BLEU.all_but("same_length", "longer", "short_sentences"),
    hints=(
        "Where enough was written you are right. Where too little was written the penalty is too mild.",
        "The penalty was added to the four logarithms before the mean was taken. It stands beside the mean.",
        "Read the equation of BLEU: what does the quarter belong to?",
    ),
)
def bleu__penalty_in_mean(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp((min(0.0, 1 - r / c) + sum(logs)) / 4)


@BLEU.misconception(
    "The mean of the BLEU of each sentence",
    fails=BLEU.all_but("alone"),
    hints=(
        "With one sentence you are right. With several, one that has no group of four right counts as 0.",
        "BLEU was computed for each sentence, and the mean taken. It is made for a corpus: first add up, then divide.",
        "Read the equation of p_n: where do the sums stand?",
    ),
)
def bleu__mean_of_sentences(hyps, refs):
    results = []
    for hyp, ref in zip(hyps, refs, strict=True):
        logs = []
        for n in range(1, 5):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits = sum(min(count, right[group]) for group, count in found.items())
            logs.append(math.log(hits / sum(found.values())) if hits else -math.inf)
        penalty = min(0.0, 1 - len(ref) / len(hyp)) if hyp else 0.0
        results.append(math.exp(penalty + sum(logs) / 4))
    return sum(results) / len(results) if results else 0.0


@BLEU.misconception(
    "The precisions of the sentences are averaged",
    fails=BLEU.all_but("alone"),
    hints=(
        "With one sentence you are right. With several, a short one weighs as much as a long one.",
        "p_n was computed for each sentence, and the mean taken. First add up over the corpus, then divide.",
        "Read the equation of p_n: where do the sums stand?",
    ),
)
def bleu__mean_of_precisions(hyps, refs):
    logs = []
    for n in range(1, 5):
        shares = []
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits = sum(min(count, right[group]) for group, count in found.items())
            shares.append(hits / max(1, sum(found.values())))
        if sum(shares) == 0:
            return 0.0
        logs.append(math.log(sum(shares) / len(shares)))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "The logarithm of 0 is taken",
    fails=("bleu_ends",),
    hints=(
        "Where all four precisions are above 0 you are right; otherwise your function stops with an error.",
        "A text without a right group of four has p_4 = 0, and math.log(0) is an error; a text without any group of "
        "four even divides by 0.",
        "Read what the task says about precisions that are 0.",
    ),
)
def bleu__log_of_zero(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "A tiny number instead of 0 under the logarithm",
    fails=("bleu_ends",),
    hints=(
        "Where all four precisions are above 0 you are right; otherwise your result is small, but not 0.",
        "The logarithm was saved by a tiny number. The fourth root of a tiny number is not so tiny: of a billionth, "
        "0.006.",
        "Read what the task says about precisions that are 0.",
    ),
)
def bleu__tiny_instead_of_zero(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        logs.append(math.log(max(hits / max(total, 1), 1e-9)))
    c, r = max(1, sum(map(len, hyps))), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "Orders without a hit are left out",
    fails=("bleu_ends",),
    hints=(
        "Where all four precisions are above 0 you are right. Who has no group of four right gets the mean of the "
        "others.",
        "A precision of 0 was skipped. It makes the geometric mean 0.",
        "Read what the task says about precisions that are 0.",
    ),
)
def bleu__zeros_skipped(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits:
            logs.append(math.log(hits / total))
    if not logs:
        return 0.0
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / len(logs))


@BLEU.misconception(
    "One is added to hits and totals",
    fails=BLEU.all_but(),
    hints=(
        "All is right: 1, as it should be. All else is a little too high.",
        "That is smoothing, for single sentences. BLEU of a corpus takes the counts as they are.",
        "Read the equation of p_n.",
    ),
)
def bleu__smoothed(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        logs.append(math.log((hits + 1) / (total + 1)))
    c, r = max(1, sum(map(len, hyps))), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "The arithmetic mean of the precisions",
    fails=BLEU.all_but(),
    hints=(
        "If all is right you are right. All else is too high, and a text without a right group of four is not 0.",
        "The precisions were added and divided by 4. The mean of the logarithms is the geometric mean: one bad "
        "precision spoils it.",
        "Read the equation of BLEU: the logarithm under the sum.",
    ),
)
def bleu__arithmetic_mean(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        logs.append(hits / max(total, 1))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / max(c, 1))) * sum(logs) / 4


@BLEU.misconception(
    "The arithmetic mean of the precisions, or 0",
    fails=BLEU.all_but("ends"),
    hints=(
        "At both ends, all right and nothing right, you are right. All between is too high.",
        "The precisions were added and divided by 4. The mean of the logarithms is the geometric mean: one bad "
        "precision spoils it.",
        "Read the equation of BLEU: the logarithm under the sum.",
    ),
)
def bleu__arithmetic_mean_or_zero(hyps, refs):
    shares = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if not hits:
            return 0.0
        shares.append(hits / total)
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c)) * sum(shares) / 4


@BLEU.misconception(
    "The product of the precisions, without the root",
    fails=BLEU.all_but("ends"),
    hints=(
        "If all is right you are right. All else is far too low.",
        "The logarithms were added and not divided by 4.",
        "Read the equation of BLEU: what stands before the sum?",
    ),
)
def bleu__product(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs))


@BLEU.misconception(
    "Groups of up to three words only",
    fails=BLEU.all_but(),
    hints=(
        "Your results are too high, and three right words alone are not 0.",
        "range(1, 4) ends at 3.",
        "Read the equation of BLEU: from where to where does n run?",
    ),
)
def bleu__up_to_three(hyps, refs):
    logs = []
    for n in range(1, 4):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 3)


@BLEU.misconception(
    "Single words only",
    fails=BLEU.all_but(),
    hints=(
        "The order of the words makes no difference in your answer.",
        "Only p_1 was computed. The groups of two, three and four see the order.",
        "Read the equation of BLEU: from where to where does n run?",
    ),
)
def bleu__words_only(hyps, refs):
    logs = []
    for n in range(1, 2):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs))


@BLEU.misconception(
    "Groups of four words only",
    fails=BLEU.all_but("ends"),
    hints=(
        "If all is right you are right. All else is too low.",
        "Only p_4 was computed. The mean goes over the orders 1 to 4.",
        "Read the equation of BLEU: from where to where does n run?",
    ),
)
def bleu__fours_only(hyps, refs):
    logs = []
    for n in range(4, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs))


@BLEU.misconception(
    "Divided by the groups of the references: recall, not precision",
    fails=BLEU.all_but("same_length"),
    hints=(
        "Where as much was written as is right you are right. Who writes more gains in your answer.",
        "The hits were divided by how many groups the references have. The precision asks how many of those *written* "
        "are right.",
        "Read the equation of p_n: what stands below?",
    ),
)
def bleu__recall(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(right.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


@BLEU.misconception(
    "Hypotheses and references have changed places",
    fails=BLEU.all_but("same_length"),
    hints=(
        "If all is right you are right. Writing too much is punished and writing too little is not.",
        "The references were taken for what was written.",
        "Read what the task says about hyps and refs.",
    ),
)
def bleu__exchanged(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(refs, hyps, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - c / r) + sum(logs) / 4)


@BLEU.misconception(
    "In percent",
    fails=BLEU.all_but(),
    hints=(
        "Your results are a hundred times too high.",
        "BLEU is often printed in percent. Here it lies between 0 and 1.",
        "Read what the task says about the result.",
    ),
)
def bleu__percent(hyps, refs):
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits += sum(min(count, right[group]) for group, count in found.items())
            total += sum(found.values())
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return 100 * math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


# ---- 10.4 attention_rollout ----

ATTENTION_ROLLOUT = Exercise(
    number="10.4",
    references=(rollout.attention_rollout,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
    equivalent={"T = A.shape[-2]": "the weights of a head are a square."},
)


@ATTENTION_ROLLOUT.misconception(
    "The identity is missing",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "Rows sum to 1, but each position keeps too little of itself, and a query that attends to nothing has a row "
        "of nan.",
        "Only the weights were multiplied. The residual connection carries each position past the attention: add the "
        "identity.",
        "Read the equation: what is added to the mean of the heads?",
    ),
)
def attention_rollout__no_identity(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The layers are multiplied in the wrong order",
    fails=ATTENTION_ROLLOUT.all_but("one_layer"),
    hints=(
        "With one layer you are right. With more, you begin with the last.",
        "R A goes through the layers from the top as if the first were the last. What the first layer has mixed is "
        "mixed again by the second: the later layer stands on the left.",
        "Read the equation of R_l: what stands on the left?",
    ),
)
def attention_rollout__order(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = R @ (mixed / mixed.sum(dim=1, keepdim=True))
    return R


@ATTENTION_ROLLOUT.misconception(
    "The rows are not divided by their sums",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "Your rows sum to 2, 4, 8, …: they double with each layer.",
        "With the identity each row of weights sums to 2. Divide it by its sum before multiplying.",
        "Read the equation: rows to one.",
    ),
)
def attention_rollout__not_renormalised(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The rows are divided by their sums at the end only",
    fails=("attention_rollout_nothing",),
    hints=(
        "Where every query attends to something you are right.",
        "Where a row of weights is all 0, its sum with the identity is 1 and not 2. Divided only at the end, such "
        "rows count half as much as the others on the way.",
        "Read the equation: in which layer is it made rows of sum one?",
    ),
)
def attention_rollout__normalised_at_end(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed @ R
    return R / R.sum(dim=1, keepdim=True)


@ATTENTION_ROLLOUT.misconception(
    "Halved instead of divided by the sums",
    fails=("attention_rollout_nothing",),
    hints=(
        "Where every query attends to something you are right. Elsewhere the rows do not sum to 1.",
        "(A + I) / 2 has rows of sum 1 only where those of A have. Divide by the sum, whatever it is.",
        "Read what the task says about rows that are all 0.",
    ),
)
def attention_rollout__halved(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / 2 @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The columns are divided by their sums",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "The columns of the mixed weights sum to 1, not the rows.",
        "The sum ran over the queries. A query shares out its weight among the keys: along the last axis.",
        "Read what the task says about rows.",
    ),
)
def attention_rollout__columns(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=0, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The rows go through a softmax instead of being divided",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "Your rows sum to 1, but they are too even: zeros have become positive.",
        "Weights are shares already. To make a row sum to 1 divide it by its sum.",
        "Read the equation: rows to one.",
    ),
)
def attention_rollout__softmax(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = torch.softmax(mixed, dim=1) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The heads are added up, not averaged",
    fails=ATTENTION_ROLLOUT.all_but("one_head"),
    hints=(
        "With one head you are right. With more, each position keeps too little of itself.",
        "N heads weigh N times as much as the identity. Take their mean.",
        "Read the equation: what stands before the sum over the heads?",
    ),
)
def attention_rollout__heads_summed(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.sum(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The largest weight of all heads is taken",
    fails=ATTENTION_ROLLOUT.all_but("one_head"),
    hints=(
        "With one head you are right. With more, the rows of the heads' maximum sum to more than 1.",
        "There are rollouts that take the maximum; this one takes the mean over the heads.",
        "Read the equation: the sum over the heads.",
    ),
)
def attention_rollout__strongest_head(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.amax(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "Only the first head is followed",
    fails=ATTENTION_ROLLOUT.all_but("one_head"),
    hints=(
        "With one head you are right. With more, the others make no difference.",
        "heads[0] is one head. Take the mean of all.",
        "Read the equation: the sum over the heads.",
    ),
)
def attention_rollout__first_head(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads[0]
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "Each head is followed on its own, and the mean is taken at the end",
    fails=ATTENTION_ROLLOUT.all_but("one_layer", "one_head"),
    hints=(
        "With one head or one layer you are right.",
        "Head 1 of a layer does not only read what head 1 of the layer below has written: all write into one state. "
        "The mean belongs inside, in each layer.",
        "Read the equation: where does the sum over the heads stand?",
    ),
)
def attention_rollout__heads_apart(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads
        R = mixed / mixed.sum(dim=2, keepdim=True) @ R
    return R.mean(dim=0)


@ATTENTION_ROLLOUT.misconception(
    "The layers are averaged, not multiplied",
    fails=ATTENTION_ROLLOUT.all_but("one_layer"),
    hints=(
        "With one layer you are right. With more, what a layer does to the one below is lost.",
        "The mean over the layers does not follow anything. The second layer mixes what the first has mixed: multiply.",
        "Read the equation of R_l.",
    ),
)
def attention_rollout__layers_averaged(A):
    mixed = torch.eye(A.shape[-1], dtype=A.dtype) + A.mean(dim=1)
    return (mixed / mixed.sum(dim=-1, keepdim=True)).mean(dim=0)


@ATTENTION_ROLLOUT.misconception(
    "Multiplied entry by entry",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "With one layer you have only the diagonal.",
        "* multiplies entries. The way through two layers is a matrix product: @.",
        "Read the equation of R_l: it is a product of matrices.",
    ),
)
def attention_rollout__entry_by_entry(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) * R
    return R


@ATTENTION_ROLLOUT.misconception(
    "Only the last layer is returned",
    fails=ATTENTION_ROLLOUT.all_but("one_layer"),
    hints=(
        "With one layer you are right. With more, the layers below make no difference.",
        "The result was overwritten in each layer. Multiply it with what came before.",
        "Read the equation of R_l: what stands on the right?",
    ),
)
def attention_rollout__last_layer(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True)
    return R


@ATTENTION_ROLLOUT.misconception(
    "The first layer has no identity",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "Above the first layer all is right.",
        "R began as the weights of the first layer themselves. The first layer has a residual connection like the "
        "others: begin with R_0 = I.",
        "Read the equation: R_0.",
    ),
)
def attention_rollout__first_layer_bare(A):
    T = A.shape[-1]
    R = A[0].mean(dim=0)
    for heads in A[1:]:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "Rows and columns are exchanged in the result",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "Your columns sum to 1.",
        "Row = output position, column = input position. Yours is the other way round.",
        "Read what the task says about the result.",
    ),
)
def attention_rollout__transposed(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R.T


@ATTENTION_ROLLOUT.misconception(
    "The rollouts of all layers are returned",
    fails=ATTENTION_ROLLOUT.all_but(),
    hints=(
        "You return L matrices; the last of them is right.",
        "Only the rollout up to the last layer is asked for.",
        "Read what the task says about the result.",
    ),
)
def attention_rollout__all_layers(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    rollouts = []
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
        rollouts.append(R)
    return torch.stack(rollouts)


@ATTENTION_ROLLOUT.misconception(
    "The identity is written into A",
    fails=("attention_rollout_untouched",),
    hints=(
        "Your result is right, but A has changed under the caller's feet.",
        "+= on a layer of A changes A itself. Make a new tensor.",
        "Read what the task says about A: nothing is changed.",
    ),
)
def attention_rollout__in_place(A):
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        heads += torch.eye(T, dtype=A.dtype)
        mixed = heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


@ATTENTION_ROLLOUT.misconception(
    "The number type is torch's default, not that of A",
    fails=("attention_rollout_dtype",),
    hints=(
        "All values are right, but with weights of another number type the result has the wrong one, or an error "
        "comes.",
        "torch.eye(T) has the default number type. torch.eye(T, dtype=A.dtype) has that of A.",
        "Read what the task says about the number type of the result.",
    ),
)
def attention_rollout__default_type(A):
    T = A.shape[-1]
    R = torch.eye(T)
    for heads in A:
        mixed = torch.eye(T) + heads.mean(dim=0)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R
    return R


# ---- 10.5 induction_score ----

INDUCTION_SCORE = Exercise(
    number="10.5",
    references=(induction.induction_score,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)


@INDUCTION_SCORE.misconception(
    "The same token, not its successor",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You measure how much a head looks at the last occurrence of the token itself.",
        "Position t - P holds the same token. What came after it then, and is to come now, stands one further.",
        "Read the equation: the second index of A.",
    ),
)
def induction_score__same_token(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "The token before the last occurrence, not the one after",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You look two places too far to the left.",
        "The sign of the 1 is wrong: t - P - 1 is before the last occurrence.",
        "Read the equation: the second index of A.",
    ),
)
def induction_score__predecessor(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period - 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "Two after the last occurrence",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You look one place too far to the right.",
        "t - P + 1 follows the last occurrence, which stands at t - P.",
        "Read the equation: the second index of A.",
    ),
)
def induction_score__two_after(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period + 2].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "The token just before",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You measure how much a head looks at the position before its own.",
        "A head that looks at t - 1 is another kind, the previous-token head. It helps an induction head and is none.",
        "Read the equation: the second index of A.",
    ),
)
def induction_score__previous_token(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "The position itself",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You measure how much a head looks at its own position.",
        "The diagonal is t, t. Look a period back, and one on.",
        "Read the equation: the second index of A.",
    ),
)
def induction_score__itself(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "Rows and columns are exchanged",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "With causal weights your result is all 0.",
        "Row = query: position t looks. You ask how much position t - P + 1 looks at t, which lies in its future.",
        "Read what the task says about A, and the order of its indices in the equation.",
    ),
)
def induction_score__rows_and_columns(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t - period + 1, t].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "The gradient is cut",
    fails=("induction_score_gradients",),
    hints=(
        "The numbers are right, but no gradient reaches A.",
        "The result was made from plain numbers (`.item()`, `.tolist()`, `.detach()`, numpy): torch does not know any "
        "more where they come from.",
        "Read what the task says about gradients.",
    ),
)
def induction_score__detached(A, period):
    t = torch.arange(period, A.shape[-1])
    return A.detach()[:, t, t - period + 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "The last token of the first period is averaged, too",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You count one position more than there is to count.",
        "The diagonal begins at t = P - 1, where column 0 is. But there nothing has been repeated yet: t begins at P.",
        "Read the equation: where does the sum begin?",
    ),
)
def induction_score__first_period_too(A, period):
    t = torch.arange(period - 1, A.shape[-1])
    return A[:, t, t - period + 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "Divided by the length of the text",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "Your results are too low, by the same factor for all heads.",
        "T - P positions were added up and divided by T, as if the first period counted with 0.",
        "Read the equation: what stands before the sum?",
    ),
)
def induction_score__divided_by_all(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period + 1].sum(dim=1) / A.shape[-1]


@INDUCTION_SCORE.misconception(
    "The first period is averaged, with places counted from the end",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "Your mean goes over all positions, the first period included.",
        "For t < P - 1 the place t - P + 1 is negative, and a negative index counts from the end: these positions "
        "look into the future. Begin at t = P.",
        "Read the equation: where does the sum begin?",
    ),
)
def induction_score__wrapped(A, period):
    t = torch.arange(A.shape[-1])
    return A[:, t, t - period + 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "The first token of the second period is left out",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You count one position too few.",
        "t begins at P, the first token of the second period.",
        "Read the equation: where does the sum begin?",
    ),
)
def induction_score__one_late(A, period):
    t = torch.arange(period + 1, A.shape[-1])
    return A[:, t, t - period + 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "Only the second period is averaged",
    fails=INDUCTION_SCORE.all_but("two_periods", "one_token"),
    hints=(
        "With at most two periods you are right. With more, the later ones do not count.",
        "t stopped at 2P. It goes on to the end of the text.",
        "Read the equation: where does the sum end?",
    ),
)
def induction_score__second_period_only(A, period):
    t = torch.arange(period, min(2 * period, A.shape[-1]))
    return A[:, t, t - period + 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "Only the last P positions are averaged",
    fails=INDUCTION_SCORE.all_but("two_periods", "one_token"),
    hints=(
        "With two whole periods you are right.",
        "The last P rows were taken, however long the text is. All rows from P on count.",
        "Read the equation: where does the sum begin?",
    ),
)
def induction_score__last_period_only(A, period):
    t = torch.arange(max(period, A.shape[-1] - period), A.shape[-1])
    return A[:, t, t - period + 1].mean(dim=1)


@INDUCTION_SCORE.misconception(
    "All earlier occurrences are counted",
    fails=INDUCTION_SCORE.all_but("two_periods", "one_token"),
    hints=(
        "With at most two periods you are right. With more, your scores are too high.",
        "The weights at t - 2P + 1, t - 3P + 1, … were added, too. Only the last occurrence counts.",
        "Read the equation: the second index of A.",
    ),
)
def induction_score__all_occurrences(A, period):
    total = 0
    for t in range(period, A.shape[-1]):
        total = total + A[:, t, t % period + 1 : t - period + 2 : period].sum(dim=1)
    return total / (A.shape[-1] - period)


@INDUCTION_SCORE.misconception(
    "The weights are added up, not averaged",
    fails=INDUCTION_SCORE.all_but("one_token"),
    hints=(
        "Your scores grow with the length of the text, above 1.",
        "The sum was not divided by the number of positions, T - P.",
        "Read the equation: what stands before the sum?",
    ),
)
def induction_score__summed(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period + 1].sum(dim=1)


@INDUCTION_SCORE.misconception(
    "The heads are averaged, too",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You return one number; each head is to have its own.",
        "The mean ran over everything. Most heads are no induction heads, and the mean hides the one that is.",
        "Read what the task says about the result.",
    ),
)
def induction_score__heads_averaged(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period + 1].mean()


@INDUCTION_SCORE.misconception(
    "The heads are averaged instead of the positions",
    fails=INDUCTION_SCORE.all_but(),
    hints=(
        "You return one number for each position.",
        "The mean ran over axis 0, the heads. Each head is to have its own score.",
        "Read what the task says about the result.",
    ),
)
def induction_score__positions_kept(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period + 1].mean(dim=0)


@INDUCTION_SCORE.misconception(
    "The largest weight instead of the mean",
    fails=INDUCTION_SCORE.all_but("one_token"),
    hints=(
        "Your scores are too high.",
        "One position at which a head looks there was enough. The mean says whether it does so always.",
        "Read the equation: the sum, and what stands before it.",
    ),
)
def induction_score__largest(A, period):
    t = torch.arange(period, A.shape[-1])
    return A[:, t, t - period + 1].amax(dim=1)


EXERCISES = (BEAM_SEARCH, RANK_HYPOTHESES, BLEU, ATTENTION_ROLLOUT, INDUCTION_SCORE)
